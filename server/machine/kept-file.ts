import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { writeWhole } from './write-whole.ts';

/** What a file keeps as JSON of that form; undefined when it is missing or damaged. */
export async function readKept<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Keeps a secret for its owner's eyes only: as a whole or not at all. */
export async function writeSecret(file: string, secret: object): Promise<void> {
  await writeWhole(file, `${JSON.stringify(secret, null, 2)}\n`);
}
