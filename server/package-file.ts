import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package: the nearest one above this file that holds package.json, run from source or bundled. */
const packageFolder = (() => {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const above = path.dirname(folder);
    if (above === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
    folder = above;
  }
  return folder;
})();

/** Absolute path of a file that comes with the package, e.g. `fixtures/worlds/demo.yaml`. */
export function packageFile(relative: string): string {
  return path.join(packageFolder, relative);
}
