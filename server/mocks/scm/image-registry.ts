import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { renameFile } from '../../system/files-in-use.ts';
import { registryError } from './scm-error.ts';

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const NAME = '[a-z0-9]+(?:[._/-]+[a-z0-9]+)*';
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TAG = /^\w[\w.-]{0,127}$/;
const UUID = String.raw`[\da-f]{8}-[\da-f-]{27}`;

/** The manifest that a tag or a digest of a repository means. */
const reference = z.object({ digest: z.string().regex(DIGEST), type: z.string() });

export interface ImageRegistryOptions {
  folder: string;
  /** For all images together. */
  maxBytes: number;
  /** Throws what the caller may not do. */
  requireAccess(req: Request, name: string, action: 'pull' | 'push'): void;
}

/** A container registry: the part of the OCI distribution protocol that pushes and pulls use. Blobs are shared by all repositories. */
export class ImageRegistry {
  readonly #options: ImageRegistryOptions;
  readonly #blobs: string;
  readonly #uploads: string;
  #usedBytes: Promise<number> | undefined;

  constructor(options: ImageRegistryOptions) {
    this.#options = options;
    this.#blobs = join(options.folder, 'blobs');
    this.#uploads = join(options.folder, 'uploads');
  }

  /** Below `/v2`. */
  router(): Router {
    const router = express.Router({ caseSensitive: true });
    const on = (
      path: string,
      handlers: Record<string, (req: Request, res: Response, name: string, rest: string) => Promise<unknown>>,
    ) => {
      router.all(new RegExp(`^/(${NAME})/${path}$`), async (req, res) => {
        const { 0: name = '', 1: rest = '' } = req.params;
        const isRead = req.method === 'GET' || req.method === 'HEAD';
        try {
          this.#options.requireAccess(req, name, isRead ? 'pull' : 'push');
          const handle = handlers[req.method === 'HEAD' ? 'GET' : req.method];
          if (!handle) throw registryError(405, 'UNSUPPORTED', `${req.method} is not supported here`);
          await handle(req, res, name, rest);
        } catch (failure) {
          req.resume();
          throw failure;
        }
      });
    };
    router.get('/', (_req, res) => void res.json({}));
    on('blobs/uploads/', { POST: (req, res, name) => this.#beginUpload(req, res, name) });
    on(`blobs/uploads/(${UUID})`, {
      GET: (_req, res, name, id) => this.#showUpload(res, name, id, 204),
      PATCH: (req, res, name, id) => this.#receive(req, id).then(() => this.#showUpload(res, name, id, 202)),
      PUT: (req, res, name, id) => this.#endUpload(req, res, name, id),
      DELETE: async (_req, res, _name, id) => {
        await this.#discard(id);
        res.status(204).end();
      },
    });
    on('blobs/([^/]+)', { GET: (req, res, _name, digest) => this.#sendBlob(req, res, digest, 'BLOB_UNKNOWN') });
    on('manifests/([^/]+)', {
      GET: async (req, res, name, tagOrDigest) => {
        const { digest, type } = await this.#find(name, tagOrDigest);
        await this.#sendBlob(req, res, digest, 'MANIFEST_UNKNOWN', type);
      },
      PUT: (req, res, name, tagOrDigest) => this.#putManifest(req, res, name, tagOrDigest),
      DELETE: async (_req, res, name, tagOrDigest) => {
        await this.#find(name, tagOrDigest);
        await rm(join(this.#folderOf(name), tagOrDigest));
        res.status(202).end();
      },
    });
    on('tags/list', {
      GET: async (_req, res, name) => {
        const found = await readdir(this.#folderOf(name)).catch(() => []);
        res.json({ name, tags: found.filter((fileName) => TAG.test(fileName)).sort() });
      },
    });
    return router;
  }

  #folderOf(name: string): string {
    return join(this.#options.folder, 'repositories', encodeURIComponent(name));
  }

  #pathOf(digest: string): string {
    if (!DIGEST.test(digest)) throw registryError(400, 'DIGEST_INVALID', 'the digest must be sha256:...');
    return join(this.#blobs, digest.slice('sha256:'.length));
  }

  #referencePath(name: string, tagOrDigest: string): string {
    if (!TAG.test(tagOrDigest) && !DIGEST.test(tagOrDigest)) throw registryError(400, 'TAG_INVALID', 'invalid tag');
    return join(this.#folderOf(name), tagOrDigest);
  }

  async #find(name: string, tagOrDigest: string): Promise<z.output<typeof reference>> {
    const text = await readFile(this.#referencePath(name, tagOrDigest), 'utf8').catch(() => undefined);
    if (text === undefined) throw registryError(404, 'MANIFEST_UNKNOWN', `${name} has no ${tagOrDigest}`);
    return reference.parse(JSON.parse(text));
  }

  async #sendBlob(req: Request, res: Response, digest: string, unless: string, type = 'application/octet-stream') {
    const path = this.#pathOf(digest);
    const found = await statOf(path);
    if (!found) throw registryError(404, unless, `${digest} is not in this registry`);
    res.set({ 'Content-Type': type, 'Content-Length': String(found.size), 'Docker-Content-Digest': digest });
    if (req.method === 'HEAD') return void res.end();
    await pipeline(createReadStream(path), res).catch(() => undefined);
  }

  async #beginUpload(req: Request, res: Response, name: string): Promise<void> {
    const { mount, digest } = req.query;
    if (typeof mount === 'string' && DIGEST.test(mount) && (await statOf(this.#pathOf(mount))))
      return this.#answerCreated(res, `/v2/${name}/blobs/${mount}`, mount);
    const id = randomUUID();
    await mkdir(this.#uploads, { recursive: true });
    await writeFile(join(this.#uploads, id), '');
    if (digest === undefined) await this.#showUpload(res, name, id, 202);
    else await this.#endUpload(req, res, name, id);
  }

  async #showUpload(res: Response, name: string, id: string, status: number): Promise<void> {
    const { size } = await this.#requireUpload(id);
    const Range = `0-${Math.max(0, size - 1)}`;
    res.set({ Location: `/v2/${name}/blobs/uploads/${id}`, 'Docker-Upload-UUID': id, Range });
    res.status(status).end();
  }

  async #requireUpload(id: string) {
    const found = await statOf(join(this.#uploads, id));
    if (!found) throw registryError(404, 'BLOB_UPLOAD_UNKNOWN', 'this upload does not exist');
    return found;
  }

  async #receive(req: IncomingMessage, id: string): Promise<void> {
    await this.#requireUpload(id);
    this.#usedBytes ??= sizeOf(this.#blobs);
    let bytes = (await this.#usedBytes) + (await sizeOf(this.#uploads));
    const { maxBytes } = this.#options;
    // Received to the end, because clients read a response only then.
    const limited = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        if (bytes > maxBytes) done();
        else done(null, chunk);
      },
    });
    await pipeline(req, limited, createWriteStream(join(this.#uploads, id), { flags: 'a' }));
    if (bytes <= maxBytes) return;
    await this.#discard(id);
    throw full(maxBytes);
  }

  async #endUpload(req: Request, res: Response, name: string, id: string): Promise<void> {
    const digest = String(req.query.digest);
    const target = this.#pathOf(digest);
    await this.#receive(req, id);
    const path = join(this.#uploads, id);
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    if (`sha256:${hash.digest('hex')}` !== digest) {
      await this.#discard(id);
      throw registryError(400, 'DIGEST_INVALID', 'the content does not have this digest');
    }
    await this.#keep(path, target);
    this.#answerCreated(res, `/v2/${name}/blobs/${digest}`, digest);
  }

  async #putManifest(req: Request, res: Response, name: string, tagOrDigest: string): Promise<void> {
    const named = this.#referencePath(name, tagOrDigest);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of req) {
      bytes += chunk.length;
      if (bytes > MAX_MANIFEST_BYTES) throw registryError(413, 'SIZE_INVALID', 'the manifest is too large');
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    if (DIGEST.test(tagOrDigest) && tagOrDigest !== digest)
      throw registryError(400, 'DIGEST_INVALID', 'the manifest does not have this digest');
    this.#usedBytes ??= sizeOf(this.#blobs);
    const { maxBytes } = this.#options;
    if ((await this.#usedBytes) + bytes > maxBytes) throw full(maxBytes);
    await mkdir(this.#uploads, { recursive: true });
    const path = join(this.#uploads, randomUUID());
    await writeFile(path, content);
    await this.#keep(path, this.#pathOf(digest));
    await mkdir(this.#folderOf(name), { recursive: true });
    const text = JSON.stringify({ digest, type: req.headers['content-type'] ?? 'application/json' });
    for (const path of new Set([this.#referencePath(name, digest), named])) await writeFile(path, text);
    this.#answerCreated(res, `/v2/${name}/manifests/${digest}`, digest);
  }

  #answerCreated(res: Response, location: string, digest: string): void {
    res.set({ Location: location, 'Docker-Content-Digest': digest }).status(201).end();
  }

  async #discard(id: string): Promise<void> {
    await rm(join(this.#uploads, id), { force: true });
  }

  /** Makes a complete upload a blob. */
  async #keep(path: string, target: string): Promise<void> {
    await mkdir(this.#blobs, { recursive: true });
    const isNew = (await statOf(target)) === undefined;
    const { size } = await stat(path);
    await renameFile(path, target);
    const used = (await this.#usedBytes) ?? 0;
    if (isNew) this.#usedBytes = Promise.resolve(used + size);
  }
}

const full = (maxBytes: number) =>
  registryError(
    507,
    'DENIED',
    `the registry of the mock GitLab is full: its limit is ${maxBytes / (1024 * 1024)} MB. Set limits.registryMegabytes to a higher value, or delete the folder 'registry' of the data folder while the platform is stopped`,
  );

const statOf = (path: string) => stat(path).catch(() => undefined);

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => statOf(join(folder, name))));
  return found.reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}
