import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const MAX_BYTES = 1024 * 1024;
/** Looked at, because some file systems report no changes, and nothing reports those of a folder that was replaced. */
const LOOK_EVERY_MS = 250;
/** An editor writes in several steps; what is read in between is half a file. */
const SETTLE_MS = 15;

export type FileReading = { ok: true; text: string } | { ok: false; problem: string };

/**
 * Follows a text file, however editors write it: in place, or by putting another one in its place.
 *
 * @param file absolute path
 * @param onReading called in order for every new state of the file, including the first
 * @returns ends it; resolves when the current reading has been reported
 */
export function followFile(file: string, onReading: (reading: FileReading) => Promise<void>): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const wait = (ms: number) => pause(ms, undefined, { signal, ref: false }).catch(() => undefined); // stopped
  const follow = async () => {
    let known = '';
    for (; !signal.aborted; await wait(LOOK_EVERY_MS)) {
      let { stamp, reading } = await readStable(file);
      while (stamp !== known && !signal.aborted) {
        known = stamp;
        await wait(SETTLE_MS);
        ({ stamp, reading } = await readStable(file));
        if (stamp === known && !signal.aborted) await onReading(reading);
      }
    }
  };
  const ended = follow();
  return () => {
    stop.abort();
    return ended;
  };
}

/** Reads a source file once. Nothing is thrown: what is wrong is a sentence. */
export async function readSource(file: string): Promise<FileReading> {
  return (await readStable(file)).reading;
}

async function readStable(file: string): Promise<{ stamp: string; reading: FileReading }> {
  let handle: FileHandle | undefined;
  try {
    // Before it is opened: opening a pipe waits for a writer.
    const kind = await stat(file);
    if (!kind.isFile()) return { stamp: 'no file', reading: { ok: false, problem: `${file} is not a file` } };
    handle = await open(file, 'r');
    for (;;) {
      const before = await handle.stat();
      const stamp = `${before.ino} ${before.size} ${before.mtimeMs}`;
      const problem = problemWith(file, before.size);
      if (problem !== undefined) return { stamp, reading: { ok: false, problem } };
      const bytes = Buffer.alloc(before.size);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const after = await handle.stat();
      // Written to meanwhile: it is read again.
      if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) continue;
      return { stamp, reading: textOf(file, bytes.subarray(0, bytesRead)) };
    }
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    const problem = code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code || String(thrown)})`;
    return { stamp: problem, reading: { ok: false, problem } };
  } finally {
    await handle?.close();
  }
}

function problemWith(file: string, sizeBytes: number): string | undefined {
  if (sizeBytes > MAX_BYTES) return `${file} has ${sizeBytes} bytes; the maximum is ${MAX_BYTES}`;
  return sizeBytes === 0 ? `${file} is empty` : undefined;
}

function textOf(file: string, bytes: Uint8Array): FileReading {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, problem: `${file} is not valid UTF-8 text` };
  }
}
