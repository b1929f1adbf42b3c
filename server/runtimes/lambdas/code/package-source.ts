import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { decodedBody, type ResponseLimits, sendRequest, within } from '../../../api/client/send-request.ts';

/** The values with which a source is asked whether its content has changed; empty if the source provides none. */
export const validators = z.object({
  etag: z.string().exactOptional(),
  lastModified: z.string().exactOptional(),
  /** The size in bytes and time of the last change of a file, in epoch milliseconds. */
  size: z.number().exactOptional(),
  changedAtMs: z.number().exactOptional(),
});
type Validators = z.output<typeof validators>;

interface FetchedPackage {
  sha256: string;
  validators: Validators;
}

const MAX_PACKAGE_BYTES = 200_000_000;
const MAX_REDIRECTS = 10;
const LIMITS: ResponseLimits = { ...within(30_000), bytes: MAX_PACKAGE_BYTES };
/** For the head, when there is a copy to go on with. */
const ASK_LIMIT_MS = 5_000;

const ZIP_START = 'PK\u0003\u0004';

/** Downloads a package into a file; returns undefined if it is unchanged since `validatorsBefore`. Throws an error that names the reason. */
export async function fetchPackage(
  url: URL,
  file: string,
  validatorsBefore: Validators | undefined,
  stopping: AbortSignal,
  {
    linkLocalHosts = [],
    limits = {},
  }: { linkLocalHosts?: readonly string[] | undefined; limits?: Partial<ResponseLimits> } = {},
): Promise<FetchedPackage | undefined> {
  if (url.protocol === 'file:') return copyIn(url, file, validatorsBefore);
  const response = await sendRequest(url, {
    headers: {
      'accept-encoding': 'gzip, deflate, br',
      ...(validatorsBefore?.etag && { 'if-none-match': validatorsBefore.etag }),
      ...(validatorsBefore?.lastModified && { 'if-modified-since': validatorsBefore.lastModified }),
    },
    signal: stopping,
    limits: { ...LIMITS, ...(validatorsBefore && { headMs: ASK_LIMIT_MS }), ...limits },
    redirects: MAX_REDIRECTS,
    linkLocal: linkLocalHosts,
  });
  const { status, statusText, body, headers } = response;
  if (status !== 200) body.destroy();
  if (validatorsBefore && status === 304) return undefined;
  if (status !== 200) throw new Error(`the server responded with ${status} ${statusText}`);
  const { etag, 'last-modified': lastModified } = headers;
  return {
    sha256: await write(decodedBody(response), file),
    validators: { ...(etag && { etag }), ...(lastModified && { lastModified }) },
  };
}

async function copyIn(
  url: URL,
  file: string,
  validatorsBefore: Validators | undefined,
): Promise<FetchedPackage | undefined> {
  const sourcePath = fileURLToPath(url);
  const { size, mtimeMs: changedAtMs } = await stat(sourcePath);
  if (validatorsBefore?.size === size && validatorsBefore.changedAtMs === changedAtMs) return undefined;
  return { sha256: await write(createReadStream(sourcePath), file), validators: { size, changedAtMs } };
}

async function write(source: Readable, file: string): Promise<string> {
  const hash = createHash('sha256');
  let seenBytes = 0;
  const watched = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seenBytes += chunk.length;
      if (seenBytes > MAX_PACKAGE_BYTES)
        return done(new Error(`the package has more than ${MAX_PACKAGE_BYTES / 1e6} MB, which is the limit`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(source, watched, createWriteStream(file, { mode: 0o600 }));
  return hash.digest('hex');
}

/** True if a file begins like a zip archive. No module does. */
export async function beginsLikeZip(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ZIP_START.length), 0, ZIP_START.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === ZIP_START;
  } finally {
    await handle.close();
  }
}
