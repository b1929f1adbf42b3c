import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { z } from 'zod';
import { codeOf, reasonOf } from '../../model/errors.ts';
import { READ_AT_ONCE, writeWhole } from '../../system/write-whole.ts';
import { type ReadHandle, StoreError } from './files.ts';

/** Node.js ends the process when more is asked for at once. */
const MAX_READ_BYTES = 1024 ** 3;

/** Opens a file of a data folder for reading; undefined if it does not exist. */
export async function openFile(path: string): Promise<ReadHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, READ_AT_ONCE);
    return readerOf(handle, await statOf(handle));
  } catch (error) {
    await handle?.close();
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function readerOf(handle: FileHandle, { size: sizeBytes, mtimeMs: modifiedAtMs }: Stats): ReadHandle {
  return {
    sizeBytes,
    modifiedAtMs,
    async read(position, lengthBytes) {
      const buffer = Buffer.alloc(lengthBytes);
      let read = 0;
      while (read < lengthBytes) {
        const most = Math.min(lengthBytes - read, MAX_READ_BYTES);
        const { bytesRead } = await handle.read(buffer, read, most, position + read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return buffer.subarray(0, read);
    },
    close: () => handle.close(),
  };
}

/** The content of a file of a data folder; undefined if it does not exist. Throws StoreError if it cannot be read. */
export async function readWholeFile(path: string): Promise<Buffer | undefined> {
  let file: ReadHandle | undefined;
  try {
    file = await openFile(path);
    // In one piece: reading half a megabyte at a time, as readFile does, is three times slower for a large world.
    return await file?.read(0, file.sizeBytes);
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await file?.close();
  }
}

/** Returns the error for a file or folder that cannot be read, with advice. */
export function unreadable(path: string, cause: unknown): StoreError {
  const advice = cause instanceof WrongKind || codeOf(cause) === 'ENOTDIR' ? 'Move it away' : 'Make it readable';
  return new StoreError(path, `cannot be read (${reasonOf(cause)}). ${advice}, and start again.`, { cause });
}

class WrongKind extends Error {}

async function statOf(handle: FileHandle): Promise<Stats> {
  const found = await handle.stat();
  if (found.isFile()) return found;
  throw new WrongKind(`it is ${found.isDirectory() ? 'a folder' : 'a device or a pipe'}, not a file`);
}

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
