import { randomUUID } from 'node:crypto';
import { constants, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { z } from 'zod';
import { removeIfPossible, removeNowIfPossible, renameFile, renameFileNow } from './files-in-use.ts';

/** Readable only by its owner; readers see the old or the new content. Does not wait for the disk. Leaves nothing behind when it rejects. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = draftOf(file);
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await renameFile(draft, file);
  } catch (failure) {
    await removeIfPossible(draft);
    throw failure;
  }
}

export function writeWholeSync(file: string, text: string): void {
  const draft = draftOf(file);
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameFileNow(draft, file);
  } catch (failure) {
    removeNowIfPossible(draft);
    throw failure;
  }
}

/** An unpredictable name: in a folder that other users can write to, they could have placed a link there. */
export const draftOf = (file: string): string => `${file}.${randomUUID()}.tmp`;

/** To open a file for reading: opening a pipe in its place would wait for its writer. Windows has no such flag. */
export const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The JSON content of a file; undefined if the file is missing, damaged or has another format. */
export async function readKept<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, { encoding: 'utf8', flag: READ_AT_ONCE })));
  } catch {
    return undefined;
  }
}
