import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../system/files-in-use.ts';
import { writeWhole } from '../../system/write-whole.ts';
import { READER } from './declaration.ts';
import { git } from './git.ts';
import { keptFolder } from './run-folder.ts';
import { VOLATILE } from './volatile-variables.ts';

const MAX_KEPT = 100;
const MIN_FOUND = 4;

/** What decides about the expanded text of a definition. */
export interface DefinitionSource {
  dir: string;
  file: string;
  /** Does it include other files of the repository? */
  hasIncludes: boolean;
  variables: Readonly<Record<string, string>>;
}

/** The expanded text of a definition, from an earlier run if nothing that decides about it has changed: the reader needs a second. */
export async function expandedOnce(source: DefinitionSource, read: () => Promise<string>): Promise<string> {
  const kept = keptFolder();
  if (kept === undefined) return read();
  const folder = join(kept, 'definitions');
  const path = join(folder, `${await keyOf(source)}.yml`);
  const found = await readFile(path, 'utf8').catch(() => undefined);
  if (found !== undefined) return found;
  const text = await read();
  const values = Object.entries(source.variables).flatMap(([name, value]) => (VOLATILE.test(name) ? value : []));
  // A short one, such as the number of the run in its project, is part of other words.
  if (values.some((value) => value.length >= MIN_FOUND && text.includes(value))) return text;
  await keep(folder, path, text).catch(() => undefined); // the next run reads it again
  return text;
}

async function keyOf({ dir, file, hasIncludes, variables }: DefinitionSource): Promise<string> {
  const stable = Object.entries(variables).filter(([name]) => !VOLATILE.test(name));
  const text = await readFile(join(dir, file), 'utf8');
  const more = hasIncludes ? [await git(dir, ['write-tree']), stable] : [];
  return createHash('sha256')
    .update(JSON.stringify([READER, file, text, more]))
    .digest('hex');
}

async function keep(folder: string, path: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length >= MAX_KEPT) await removeTree(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeWhole(path, text);
}
