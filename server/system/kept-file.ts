import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';

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
