import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFile } from '../server/system/package-file.ts';

/** The inputs of the build. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'llms.txt',
];
const SOURCE_FOLDERS = [
  'docs',
  'electron',
  'entries',
  'fixtures',
  'renderer',
  'schemas',
  'scripts',
  'server',
  'skills',
];

export interface PackedPackage {
  tarball: string;
  /** Paths of the files in it. */
  files: string[];
  /** Its package.json. */
  manifest: { name: string; version: string };
  /** The folder that it was built in. */
  clone: string;
}

/** Packs the package as `npm publish` does, from a copy of the sources in a folder. */
export async function packPackage(folder: string): Promise<PackedPackage> {
  const clone = join(folder, 'clone');
  await mkdir(clone);
  for (const name of [...SOURCES, ...SOURCE_FOLDERS]) {
    await cp(packageFile(name), join(clone, name), { recursive: true });
  }
  await symlink(packageFile('node_modules'), join(clone, 'node_modules'));
  // Without the variables of the npm that runs the tests.
  const env = { PATH: `${process.env.PATH}`, HOME: folder, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: clone,
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  // The prepack script prints before the list.
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  return {
    tarball: join(folder, filename),
    files: files.map(({ path }: { path: string }) => path),
    manifest: JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')),
    clone,
  };
}
