import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package: the nearest parent with a package.json, whether run from source or bundled. */
const packageFolder = (() => {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const above = path.dirname(folder);
    if (above === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
    folder = above;
  }
  return folder;
})();

/** Absolute path of a file in the package, e.g. `fixtures/worlds/demo.yaml`. */
export function packageFile(relative: string): string {
  return path.join(packageFolder, relative);
}

/** For programs other than Electron, which cannot read the archive (`asarUnpack` in electron-builder.yml). */
export function unpackedFile(relative: string): string {
  return packageFile(relative).replace(`app.asar${path.sep}`, `app.asar.unpacked${path.sep}`);
}
