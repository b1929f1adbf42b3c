import type { z } from 'zod';
import { writeWhole } from '../../system/write-whole.ts';
import { readWholeFile } from './read-file.ts';

/** The content of a file in the data folder that `writeSecret` wrote; undefined if it is missing or damaged. Throws StoreError if it cannot be read. */
export async function readSecret<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const content = await readWholeFile(file);
  try {
    return content && schema.parse(JSON.parse(content.toString()));
  } catch {
    return undefined;
  }
}

export async function writeSecret(file: string, secret: object): Promise<void> {
  await writeWhole(file, `${JSON.stringify(secret, null, 2)}\n`);
}
