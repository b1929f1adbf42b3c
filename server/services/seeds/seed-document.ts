import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../model/json.ts';
import { pointerTo } from '../../model/patch/pointer.ts';
import type { SeedDocument } from './parse-seed-document.ts';
import { SeedError } from './seed-error.ts';

const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The seed file that a path means: in a folder, as `export` writes it, its world.yaml. */
export async function seedFileAt(path: string): Promise<string> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory();
  return isFolder ? join(path, 'world.yaml') : path;
}

/** Reads a YAML or JSON file (JSON is YAML). Throws SeedError for a file that cannot be read or is not well-formed. */
export async function readSeedDocument(file: string): Promise<SeedDocument> {
  const text = await readUtf8(file).catch((cause: Error) => {
    throw new SeedError({ file }, `the seed file cannot be read: ${cause.message}`, cause);
  });
  // Loaded only now: what comes along was read before.
  const { parseSeedDocument } = await import('./parse-seed-document.ts');
  return parseSeedDocument(file, text);
}

/** Reads a document that was parsed at build time. @param preparedFile JSON by the hash of the text; may be absent or of another text */
export async function readPreparedSeedDocument(file: string, preparedFile: string): Promise<SeedDocument> {
  const prepared = await readFile(preparedFile, 'utf8').catch(() => '{}');
  const hash = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  // As: it comes with the package, as the code does.
  const content = (JSON.parse(prepared) as Record<string, Json>)[hash];
  return content === undefined ? readSeedDocument(file) : sentSeedDocument(file, content);
}

/** A text file of at most 32 MiB; throws Error with the reason otherwise. */
export async function readUtf8(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  const bytes = await readFile(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('it is not UTF-8 text', { cause });
  }
}

/** A document that was sent as JSON, and parsed: its parts have no lines. */
export function sentSeedDocument(file: string, content: unknown): SeedDocument {
  return {
    file,
    content,
    errorAt: (path, reason, cause) => new SeedError({ file, pointer: pointerTo(path) }, reason, cause),
  };
}
