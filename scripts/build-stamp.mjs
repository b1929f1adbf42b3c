// The stamp in dist/ is the hash of all files that the build reads.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Files and folders that the build reads; test files apart. */
const INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts',
  'docs',
  'fixtures/worlds',
  'server',
  'electron',
  'renderer',
];

/** Hash of everything that the build reads. By content, not by time: a checkout or a copy changes times. */
export function sourceHash(root) {
  const hash = createHash('sha256');
  for (const file of INPUTS.flatMap((input) => filesAt(root, input))) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** True if dist/ was built from the present sources. */
export function isBuilt(root) {
  return existsSync(stampOf(root)) && readFileSync(stampOf(root), 'utf8') === sourceHash(root);
}

export function markBuilt(root, hash) {
  writeFileSync(stampOf(root), hash);
}

/** Marks dist/ as incomplete; call it before writing to it. */
export function markUnbuilt(root) {
  rmSync(stampOf(root), { force: true });
}

const stampOf = (root) => join(root, 'dist', '.stamp');

/** The file, or all files of the folder, relative to root, with `/`, in a fixed order. */
function filesAt(root, path) {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/[.]test[.]tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
