import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { decodedBody, type ResponseLimits, sendRequest, within } from '../../../api/client/send-request.ts';
import { removeIfPossible, renameFile } from '../../../system/files-in-use.ts';
import { readKept, writeWhole } from '../../../system/write-whole.ts';
import type { CodeSource } from '../lambda-definition.ts';
import { LambdaFailure } from '../lambda-failure.ts';
import { CodeFiles, codeFilesBelow, codeFilesIn } from './code-files.ts';

/** The values with which a source is asked whether its content has changed; empty if the source provides none. */
const validators = z.object({
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
async function beginsLikeZip(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ZIP_START.length), 0, ZIP_START.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === ZIP_START;
  } finally {
    await handle.close();
  }
}

export type PackageSource = Extract<CodeSource, { kind: 'package' }>;

export interface PackageFiles {
  folder: string;
  onlyFile?: string | undefined;
  /** Differs from what it was before when the package has other content since. */
  revision: string;
  /** The watched files of a package on this machine, which reveal a change. */
  watched?: CodeFiles | undefined;
  note?: string | undefined;
}

/** A source is asked no more often than that whether it has something else. */
const ASK_EVERY_MS = 60_000;
/** Suffix of the file, next to the cached packages, that names the last package of a lambda. */
const COPY_SUFFIX = '.json';

const copySchema = z.object({
  url: z.string(),
  isZip: z.boolean().optional(),
  content: z.string().regex(/^[0-9a-f]{32}$/),
  validators,
});
type Copy = z.output<typeof copySchema>;

export interface PackageStoreOptions {
  folder: string;
  steadyMs(): number;
  check(): void;
  /** Link-local hosts that packages may come from; none unless given. */
  linkLocalHosts?: readonly string[] | undefined;
}

/**
 * Makes the packages of lambdas available as files (D-056, D-057). What comes by http, https, or as a file is fetched once, asked
 * after when a process is started for it, and unpacked once for each content, whichever lambdas have it; all that is kept over
 * restarts. A `file:` folder is used in place and never written to.
 */
export class PackageStore {
  readonly #options: PackageStoreOptions;
  readonly #folder: string;
  readonly #contents: string;
  /** The current and the previous copy of each lambda's package; running processes may still read the previous one. */
  readonly #copies = new Map<string, { latest: Copy; before?: Copy }>();
  readonly #askedAtMs = new Map<string, number>();
  /** The newest requested edition of each lambda's package: a newer one is fetched even if a copy is cached. */
  readonly #editions = new Map<string, number>();
  readonly #fetches = new Map<string, { key: string; files: Promise<PackageFiles> }>();
  readonly #unpackings = new Map<string, Promise<void>>();
  readonly #arriving = new Map<string, string>();
  readonly #stopping = new AbortController();

  constructor(options: PackageStoreOptions) {
    this.#options = options;
    this.#folder = options.folder;
    this.#contents = path.join(options.folder, 'contents');
  }

  /** Reads the packages of an earlier run, and removes those that no lambda uses. */
  async open(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const file = path.join(this.#folder, name);
      const copy = name.endsWith(COPY_SUFFIX) ? await readKept(file, copySchema) : undefined;
      if (copy && existsSync(path.join(this.#contents, copy.content)))
        this.#copies.set(path.basename(name, COPY_SUFFIX), { latest: copy });
      else if (file !== this.#contents && name !== 'node_modules') await removeIfPossible(file);
    }
    await this.#sweep();
  }

  /** The package's files, fetched and unpacked when that has to be. Throws LambdaFailure `load` naming URL and cause. */
  async provide(lambdaId: string, source: PackageSource): Promise<PackageFiles> {
    const key = JSON.stringify([source.url, source.isZip]);
    const underWay = this.#fetches.get(lambdaId);
    if (underWay?.key === key) return underWay.files;
    const files: Promise<PackageFiles> = this.#provide(lambdaId, source)
      .catch((thrown: unknown) => {
        const message = `package ${source.url} cannot be used: ${causeOf(thrown)}`;
        throw new LambdaFailure('load', message, { cause: thrown });
      })
      .finally(() => {
        if (this.#fetches.get(lambdaId)?.files === files) this.#fetches.delete(lambdaId);
      });
    this.#fetches.set(lambdaId, { key, files });
    return files;
  }

  async forget(lambdaId: string): Promise<void> {
    this.#copies.delete(lambdaId);
    this.#askedAtMs.delete(lambdaId);
    this.#editions.delete(lambdaId);
    await rm(this.#recordOf(lambdaId), { force: true });
    await this.#sweep();
  }

  stop(): void {
    this.#stopping.abort(new Error('the emulator is stopping'));
  }

  async #provide(lambdaId: string, source: PackageSource): Promise<PackageFiles> {
    const url = new URL(source.url);
    let archive: CodeFiles | undefined;
    if (url.protocol === 'file:') {
      const sourcePath = fileURLToPath(url);
      if ((await stat(sourcePath)).isDirectory())
        return { folder: sourcePath, ...watchedFiles(codeFilesBelow(sourcePath)) };
      const folder = path.dirname(sourcePath);
      if (!source.isZip && !(await beginsLikeZip(sourcePath)))
        return { folder, onlyFile: sourcePath, ...watchedFiles([...codeFilesIn(folder), sourcePath]) };
      archive = new CodeFiles([sourcePath]);
    }
    const { copy, note } = await this.#upToDate(lambdaId, url, source);
    const folder = path.join(this.#contents, copy.content);
    const single = singleFile(folder, url);
    return {
      folder,
      revision: copy.content,
      watched: archive,
      onlyFile: existsSync(single) ? single : undefined,
      note,
    };
  }

  /** Returns the current copy of the source, or the previous copy if the source is unavailable (D-057). */
  async #upToDate(lambdaId: string, url: URL, source: PackageSource): Promise<{ copy: Copy; note?: string }> {
    const latest = this.#copies.get(lambdaId)?.latest;
    const copy = latest && latest.url === source.url && latest.isZip === source.isZip ? latest : undefined;
    const lastEdition = this.#editions.get(lambdaId) ?? 0;
    const isNewEdition = source.edition > lastEdition;
    this.#editions.set(lambdaId, Math.max(lastEdition, source.edition));
    const steadyMs = this.#options.steadyMs();
    // A file of this machine is asked after each time: that takes one look.
    const askedAtMs = this.#askedAtMs.get(lambdaId) ?? Number.NEGATIVE_INFINITY;
    const isToBeAsked = copy && Object.keys(copy.validators).length > 0 && steadyMs - askedAtMs >= ASK_EVERY_MS;
    if (copy && !isNewEdition && url.protocol !== 'file:' && !isToBeAsked) return { copy };
    this.#askedAtMs.set(lambdaId, steadyMs);
    try {
      return { copy: await this.#fetch(lambdaId, url, source, isNewEdition ? undefined : copy) };
    } catch (thrown) {
      if (!copy || this.#stopping.signal.aborted) throw thrown;
      const note = `package ${source.url} cannot be fetched, so the previous copy is used: ${causeOf(thrown)}`;
      return { copy, note };
    }
  }

  /** Fetches the source; returns the known copy if it has not changed. */
  async #fetch(lambdaId: string, url: URL, source: PackageSource, previousCopy: Copy | undefined): Promise<Copy> {
    await mkdir(this.#contents, { recursive: true, mode: 0o700 });
    const archive = path.join(this.#contents, `${randomUUID()}.download`);
    try {
      const fetchedPackage = await fetchPackage(url, archive, previousCopy?.validators, this.#stopping.signal, {
        linkLocalHosts: this.#options.linkLocalHosts,
      });
      if (!fetchedPackage) {
        if (!previousCopy) throw new Error('the source has nothing');
        return previousCopy;
      }
      const isZip = source.isZip || (await beginsLikeZip(archive));
      const content = keyOf(fetchedPackage.sha256, isZip ? '' : path.basename(singleFile('', url)));
      this.#arriving.set(lambdaId, content);
      await this.#unpack(archive, content, url, isZip);
      const copy = {
        url: source.url,
        ...(source.isZip !== undefined && { isZip: source.isZip }),
        content,
        validators: fetchedPackage.validators,
      };
      await this.#keep(lambdaId, copy);
      return copy;
    } finally {
      this.#arriving.delete(lambdaId);
      await rm(archive, { force: true });
    }
  }

  async #keep(lambdaId: string, copy: Copy): Promise<void> {
    this.#options.check();
    const before = this.#copies.get(lambdaId)?.latest;
    this.#copies.set(lambdaId, { latest: copy, ...(before && before.content !== copy.content && { before }) });
    await writeWhole(this.#recordOf(lambdaId), JSON.stringify(copy));
    await this.#sweep();
  }

  /** Once for each content; prepared aside, so that half a package is never taken for a whole one. */
  async #unpack(archive: string, content: string, url: URL, isZip: boolean): Promise<void> {
    const folder = path.join(this.#contents, content);
    const underWay = this.#unpackings.get(content);
    if (underWay) return underWay;
    if (existsSync(folder)) return;
    const unpacking = this.#makeFolder(archive, folder, url, isZip).finally(() => this.#unpackings.delete(content));
    this.#unpackings.set(content, unpacking);
    await unpacking;
  }

  async #makeFolder(archive: string, folder: string, url: URL, isZip: boolean): Promise<void> {
    const aside = await mkdtemp(`${folder}-`);
    try {
      if (isZip) await (await import('./unzip.ts')).unzip(archive, aside);
      else {
        await mkdir(path.dirname(singleFile(aside, url)), { mode: 0o700 });
        await renameFile(archive, singleFile(aside, url));
      }
      stopModuleLookup(aside);
      await renameFile(aside, folder);
    } catch (thrown) {
      await removeIfPossible(aside);
      throw thrown;
    }
  }

  async #sweep(): Promise<void> {
    const usedContents = new Set<string>(this.#arriving.values());
    for (const { latest, before } of this.#copies.values()) {
      usedContents.add(latest.content);
      if (before) usedContents.add(before.content);
    }
    for (const name of await readdir(this.#contents).catch(() => [])) {
      const isOurs = usedContents.has(name.slice(0, 32)) || (this.#fetches.size > 0 && !CONTENT.test(name));
      if (!isOurs) await removeIfPossible(path.join(this.#contents, name));
    }
  }

  #recordOf(lambdaId: string): string {
    return path.join(this.#folder, `${lambdaId}${COPY_SUFFIX}`);
  }
}

function watchedFiles(files: Iterable<string>): Pick<PackageFiles, 'revision' | 'watched'> {
  const watched = new CodeFiles(files);
  return { revision: watched.revision, watched };
}

const CONTENT = /^[0-9a-f]{32}$/;

/** Without a package.json here, Node would take module type and name from a folder above the emulator's data. */
export function stopModuleLookup(folder: string): void {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) writeFileSync(file, '{}\n', { mode: 0o600 });
}

/** A package that is one file keeps its name, in a folder that no archive has. */
function singleFile(folder: string, url: URL): string {
  const name = path.posix.basename(url.pathname);
  return path.join(folder, '.single', /\.[cm]?[jt]s$/.test(name) ? name : 'index.js');
}

/** Name of the folder of a content; the same bytes are another package under another file's name. */
function keyOf(sha256: string, fileName: string): string {
  return createHash('sha256').update(`${sha256} ${fileName}`).digest('hex').slice(0, 32);
}

function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // Of the file system: the caller must not see folders of this machine (D-139).
  return 'path' in thrown ? thrown.message.replace(/, [a-z]+ '.*/s, '') : thrown.message;
}
