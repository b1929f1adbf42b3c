import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { fileURLToPath } from 'node:url';
import type { CodeSource } from './lambda-definition.ts';
import { LambdaFailure } from './lambda-failure.ts';
import { unzip } from './unzip.ts';

export type PackageSource = Extract<CodeSource, { kind: 'package' }>;

/** Where a package's files are. */
export interface PackageFiles {
  folder: string;
  /** The package's only file, when it is not an archive. */
  onlyFile?: string;
  /** What the lambda's log should say about them. */
  note?: string;
}

const FETCH_TIMEOUT_MS = 30_000;
const MAX_PACKAGE_BYTES = 200_000_000;
/** First bytes of a zip archive. */
const ZIP_START = 'PK\u0003\u0004';

/**
 * Makes the packages of lambdas available as files (D-056): by http and https URL they are fetched once for a lambda's
 * record and kept over restarts; a `file:` folder is used in place and never written to.
 */
export class PackageStore {
  readonly #folder: string;
  /** Name of each lambda's latest folder. */
  readonly #latest = new Map<string, string>();
  readonly #stopping = new AbortController();

  /** `folder`: the emulator's own, made when missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The package's files, fetched and unpacked when they are not there yet. Throws LambdaFailure `load` naming URL and cause. */
  async provide(lambdaId: string, source: PackageSource): Promise<PackageFiles> {
    try {
      return await this.#provide(lambdaId, source);
    } catch (thrown) {
      const message = `package ${source.url} cannot be used: ${causeOf(thrown)}`;
      throw new LambdaFailure('load', message, { cause: thrown });
    }
  }

  /** Forgets what was fetched for a lambda. */
  async forget(lambdaId: string): Promise<void> {
    this.#latest.delete(lambdaId);
    await rm(path.join(this.#folder, lambdaId), { recursive: true, force: true });
  }

  /** Gives up what is being fetched. */
  stop(): void {
    this.#stopping.abort(new Error('the emulator is stopping'));
  }

  async #provide(lambdaId: string, source: PackageSource): Promise<PackageFiles> {
    const url = new URL(source.url);
    if (url.protocol === 'file:') {
      const place = fileURLToPath(url);
      if ((await stat(place)).isDirectory()) return { folder: place };
      if (!(await isZip(place, source))) return { folder: path.dirname(place), onlyFile: place };
    }
    const wanted = path.join(this.#folder, lambdaId, keyOf(source));
    const { folder, note } = existsSync(wanted) ? { folder: wanted } : await this.#fetch(wanted, url, source);
    await this.#sweep(lambdaId, path.basename(folder));
    const onlyFile = singleFile(folder, url);
    return { folder, ...(existsSync(onlyFile) && { onlyFile }), ...(note !== undefined && { note }) };
  }

  /** Where the source cannot be had, the copy that was had from it before runs on (D-057). */
  async #fetch(wanted: string, url: URL, source: PackageSource): Promise<{ folder: string; note?: string }> {
    try {
      await this.#make(wanted, url, source);
      return { folder: wanted };
    } catch (thrown) {
      const place = path.dirname(wanted);
      const ofSource = path.basename(wanted).slice(0, SOURCE_DIGITS);
      const copy = (await readdir(place)).find((name) => KEY.test(name) && name.startsWith(ofSource));
      if (copy === undefined) throw thrown;
      const note = `package ${source.url} cannot be fetched, and the copy from before runs on: ${causeOf(thrown)}`;
      return { folder: path.join(place, copy), note };
    }
  }

  /** Removes all packages of a lambda but the latest and the one before, which running processes may still read. */
  async #sweep(lambdaId: string, latest: string): Promise<void> {
    const before = this.#latest.get(lambdaId);
    if (before === latest) return;
    this.#latest.set(lambdaId, latest);
    for (const name of await readdir(path.join(this.#folder, lambdaId))) {
      const isKept = name === latest || name === before || !KEY.test(name);
      if (!isKept) await rm(path.join(this.#folder, lambdaId, name), { recursive: true, force: true });
    }
  }

  /** Prepares aside and moves into place at the end, so that half a package is never taken for a whole one. */
  async #make(kept: string, url: URL, source: PackageSource): Promise<void> {
    await mkdir(path.dirname(kept), { recursive: true, mode: 0o700 });
    const aside = await mkdtemp(`${kept}-`);
    const archive = `${aside}.download`;
    try {
      await (url.protocol === 'file:' ? copyIn(url, archive) : fetchTo(url, archive, this.#stopping.signal));
      if (await isZip(archive, source)) await unzip(archive, aside);
      else {
        await mkdir(path.dirname(singleFile(aside, url)), { mode: 0o700 });
        await rename(archive, singleFile(aside, url));
      }
      await stopModuleLookup(aside);
      await rename(aside, kept);
    } catch (thrown) {
      await rm(aside, { recursive: true, force: true });
      // Another process of the same lambda may have been quicker.
      if (!existsSync(kept)) throw thrown;
    } finally {
      await rm(archive, { force: true });
    }
  }
}

/**
 * Without a package.json of its own, Node would take module type and name from whatever folder the emulator's data
 * happens to lie in.
 */
export async function stopModuleLookup(folder: string): Promise<void> {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) await writeFile(file, '{}\n', { mode: 0o600 });
}

/** A package that is one file keeps its name, in a folder that no archive has. */
function singleFile(folder: string, url: URL): string {
  const name = path.posix.basename(url.pathname);
  return path.join(folder, '.single', /\.[cm]?[jt]s$/.test(name) ? name : 'index.js');
}

const KEY = /^[0-9a-f]{32}$/;

/** Digits of a key that tell the source; those that follow tell the time at which it was asked for. */
const SOURCE_DIGITS = 16;

function keyOf({ url, isZip, stamp }: PackageSource): string {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, SOURCE_DIGITS);
  return hash(`${url}\n${isZip}`) + hash(stamp);
}

async function isZip(file: string, source: PackageSource): Promise<boolean> {
  if (source.isZip) return true;
  // Also where the lambda says that it is none: there is no module that begins like that.
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ZIP_START.length), 0, ZIP_START.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === ZIP_START;
  } finally {
    await handle.close();
  }
}

function copyIn(url: URL, file: string): Promise<void> {
  return pipeline(
    createReadStream(fileURLToPath(url)),
    atMost(MAX_PACKAGE_BYTES),
    createWriteStream(file, { mode: 0o600 }),
  );
}

async function fetchTo(url: URL, file: string, stopping: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
  const response = await fetch(url, { signal });
  if (!response.ok || !response.body) throw new Error(`the server answered ${response.status} ${response.statusText}`);
  // As: the same stream, typed once by the web's and once by Node's declarations.
  const body = Readable.fromWeb(response.body as ReadableStream);
  await pipeline(body, atMost(MAX_PACKAGE_BYTES), createWriteStream(file, { mode: 0o600 }));
}

function atMost(limitBytes: number): Transform {
  let seenBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seenBytes += chunk.length;
      if (seenBytes > limitBytes) done(new Error(`it has more than ${limitBytes / 1e6} MB`));
      else done(null, chunk);
    },
  });
}

/** The innermost message: fetch hides `connect ECONNREFUSED ...` in a cause. */
function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? causeOf(thrown.cause) : thrown.message;
}
