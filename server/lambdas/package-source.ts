import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { fileURLToPath } from 'node:url';

/** By what a source is asked whether it has something else by now; empty where it gives nothing to ask by. */
export interface Validators {
  etag?: string;
  lastModified?: string;
  /** Of a file: size in bytes and time of its last change, epoch milliseconds. */
  size?: number;
  changedAtMs?: number;
}

/** What was had from a source: the SHA-256 of its bytes, in hex. */
export interface Fetched {
  sha256: string;
  validators: Validators;
}

/** `fetch`: from the first word to the last byte. `ask`: to the first word, when there is a copy to go on with. */
const TIMEOUTS_MS = { fetch: 30_000, ask: 5_000 };
const MAX_PACKAGE_BYTES = 200_000_000;
/** First bytes of a zip archive. */
const ZIP_START = 'PK\u0003\u0004';

/**
 * Writes what an http, https or file URL leads to into a file. With `known` it is asked whether it has changed since: undefined when
 * it has not. Throws an error that names the reason.
 */
export async function fetchPackage(
  url: URL,
  file: string,
  known: Validators | undefined,
  stopping: AbortSignal,
  timeoutsMs = TIMEOUTS_MS,
): Promise<Fetched | undefined> {
  return url.protocol === 'file:' ? copyIn(url, file, known) : fetchTo(url, file, known, stopping, timeoutsMs);
}

async function copyIn(url: URL, file: string, known: Validators | undefined): Promise<Fetched | undefined> {
  const place = fileURLToPath(url);
  const { size, mtimeMs: changedAtMs } = await stat(place);
  if (known?.size === size && known.changedAtMs === changedAtMs) return undefined;
  return { sha256: await write(createReadStream(place), file), validators: { size, changedAtMs } };
}

async function fetchTo(
  url: URL,
  file: string,
  known: Validators | undefined,
  stopping: AbortSignal,
  timeoutsMs: typeof TIMEOUTS_MS,
): Promise<Fetched | undefined> {
  const headers = {
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  };
  const late = new AbortController();
  const end = (timeoutMs: number, what: string): NodeJS.Timeout =>
    setTimeout(() => late.abort(new Error(`${what} within ${timeoutMs / 1_000} s`)), timeoutMs);
  const whole = end(timeoutsMs.fetch, 'it did not arrive');
  const head = end(known ? timeoutsMs.ask : timeoutsMs.fetch, 'there was no answer');
  const signal = AbortSignal.any([stopping, late.signal]);
  try {
    const response = await fetch(url, { signal, headers });
    clearTimeout(head);
    if (known && response.status === 304) return undefined;
    if (!response.ok || !response.body)
      throw new Error(`the server answered ${response.status} ${response.statusText}`);
    const [etag, lastModified] = [response.headers.get('etag'), response.headers.get('last-modified')];
    // As: the same stream, typed once by the web's and once by Node's declarations.
    const sha256 = await write(Readable.fromWeb(response.body as ReadableStream), file);
    return { sha256, validators: { ...(etag && { etag }), ...(lastModified && { lastModified }) } };
  } finally {
    clearTimeout(whole);
    clearTimeout(head);
  }
}

/** Returns the SHA-256 of what was written. */
async function write(source: Readable, file: string): Promise<string> {
  const hash = createHash('sha256');
  let seenBytes = 0;
  const watched = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seenBytes += chunk.length;
      if (seenBytes > MAX_PACKAGE_BYTES) return done(new Error(`it has more than ${MAX_PACKAGE_BYTES / 1e6} MB`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(source, watched, createWriteStream(file, { mode: 0o600 }));
  return hash.digest('hex');
}

/** Does a file begin like a zip archive? No module does. */
export async function beginsLikeZip(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ZIP_START.length), 0, ZIP_START.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === ZIP_START;
  } finally {
    await handle.close();
  }
}
