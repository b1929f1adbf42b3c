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

/**
 * A container registry below `/v2`: the part of the OCI distribution protocol that pushes and pulls use. Blobs are shared by all
 * repositories.
 */
export function imageRegistry({ folder, maxBytes, requireAccess }: ImageRegistryOptions): Router {
  const blobs = join(folder, 'blobs');
  const uploads = join(folder, 'uploads');
  let usedBytes: Promise<number> | undefined;

  function folderOf(name: string): string {
    return join(folder, 'repositories', encodeURIComponent(name));
  }

  function pathOf(digest: string): string {
    if (!DIGEST.test(digest)) throw registryError(400, 'DIGEST_INVALID', 'the digest must be sha256:...');
    return join(blobs, digest.slice('sha256:'.length));
  }

  function referencePath(name: string, tagOrDigest: string): string {
    if (!TAG.test(tagOrDigest) && !DIGEST.test(tagOrDigest)) throw registryError(400, 'TAG_INVALID', 'invalid tag');
    return join(folderOf(name), tagOrDigest);
  }

  async function find(name: string, tagOrDigest: string): Promise<z.output<typeof reference>> {
    const text = await readFile(referencePath(name, tagOrDigest), 'utf8').catch(() => undefined);
    if (text === undefined) throw registryError(404, 'MANIFEST_UNKNOWN', `${name} has no ${tagOrDigest}`);
    return reference.parse(JSON.parse(text));
  }

  async function sendBlob(
    req: Request,
    res: Response,
    digest: string,
    unless: string,
    type = 'application/octet-stream',
  ) {
    const path = pathOf(digest);
    const found = await statOf(path);
    if (!found) throw registryError(404, unless, `${digest} is not in this registry`);
    res.set({ 'Content-Type': type, 'Content-Length': String(found.size), 'Docker-Content-Digest': digest });
    if (req.method === 'HEAD') return void res.end();
    await pipeline(createReadStream(path), res).catch(() => undefined);
  }

  async function beginUpload(req: Request, res: Response, name: string): Promise<void> {
    const { mount, digest } = req.query;
    if (typeof mount === 'string' && DIGEST.test(mount) && (await statOf(pathOf(mount))))
      return answerCreated(res, `/v2/${name}/blobs/${mount}`, mount);
    const id = randomUUID();
    await mkdir(uploads, { recursive: true });
    await writeFile(join(uploads, id), '');
    if (digest === undefined) await showUpload(res, name, id, 202);
    else await endUpload(req, res, name, id);
  }

  async function showUpload(res: Response, name: string, id: string, status: number): Promise<void> {
    const { size } = await requireUpload(id);
    const Range = `0-${Math.max(0, size - 1)}`;
    res.set({ Location: `/v2/${name}/blobs/uploads/${id}`, 'Docker-Upload-UUID': id, Range });
    res.status(status).end();
  }

  async function requireUpload(id: string) {
    const found = await statOf(join(uploads, id));
    if (!found) throw registryError(404, 'BLOB_UPLOAD_UNKNOWN', 'this upload does not exist');
    return found;
  }

  async function receive(req: IncomingMessage, id: string): Promise<void> {
    await requireUpload(id);
    usedBytes ??= sizeOf(blobs);
    let bytes = (await usedBytes) + (await sizeOf(uploads));
    // Received to the end, because clients read a response only then.
    const limited = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        if (bytes > maxBytes) done();
        else done(null, chunk);
      },
    });
    await pipeline(req, limited, createWriteStream(join(uploads, id), { flags: 'a' }));
    if (bytes <= maxBytes) return;
    await discard(id);
    throw full(maxBytes);
  }

  async function endUpload(req: Request, res: Response, name: string, id: string): Promise<void> {
    const digest = String(req.query.digest);
    const target = pathOf(digest);
    await receive(req, id);
    const path = join(uploads, id);
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    if (`sha256:${hash.digest('hex')}` !== digest) {
      await discard(id);
      throw registryError(400, 'DIGEST_INVALID', 'the content does not have this digest');
    }
    await keep(path, target);
    answerCreated(res, `/v2/${name}/blobs/${digest}`, digest);
  }

  async function putManifest(req: Request, res: Response, name: string, tagOrDigest: string): Promise<void> {
    const named = referencePath(name, tagOrDigest);
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
    usedBytes ??= sizeOf(blobs);
    if ((await usedBytes) + bytes > maxBytes) throw full(maxBytes);
    await mkdir(uploads, { recursive: true });
    const path = join(uploads, randomUUID());
    await writeFile(path, content);
    await keep(path, pathOf(digest));
    await mkdir(folderOf(name), { recursive: true });
    const text = JSON.stringify({ digest, type: req.headers['content-type'] ?? 'application/json' });
    for (const path of new Set([referencePath(name, digest), named])) await writeFile(path, text);
    answerCreated(res, `/v2/${name}/manifests/${digest}`, digest);
  }

  function answerCreated(res: Response, location: string, digest: string): void {
    res.set({ Location: location, 'Docker-Content-Digest': digest }).status(201).end();
  }

  async function discard(id: string): Promise<void> {
    await rm(join(uploads, id), { force: true });
  }

  /** Makes a complete upload a blob. */
  async function keep(path: string, target: string): Promise<void> {
    await mkdir(blobs, { recursive: true });
    const isNew = (await statOf(target)) === undefined;
    const { size } = await stat(path);
    await renameFile(path, target);
    const used = (await usedBytes) ?? 0;
    if (isNew) usedBytes = Promise.resolve(used + size);
  }

  const router = express.Router({ caseSensitive: true });
  const on = (
    path: string,
    handlers: Record<string, (req: Request, res: Response, name: string, rest: string) => Promise<unknown>>,
  ) => {
    router.all(new RegExp(`^/(${NAME})/${path}$`), async (req, res) => {
      const { 0: name = '', 1: rest = '' } = req.params;
      const isRead = req.method === 'GET' || req.method === 'HEAD';
      try {
        requireAccess(req, name, isRead ? 'pull' : 'push');
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
  on('blobs/uploads/', { POST: (req, res, name) => beginUpload(req, res, name) });
  on(`blobs/uploads/(${UUID})`, {
    GET: (_req, res, name, id) => showUpload(res, name, id, 204),
    PATCH: (req, res, name, id) => receive(req, id).then(() => showUpload(res, name, id, 202)),
    PUT: (req, res, name, id) => endUpload(req, res, name, id),
    DELETE: async (_req, res, _name, id) => {
      await discard(id);
      res.status(204).end();
    },
  });
  on('blobs/([^/]+)', { GET: (req, res, _name, digest) => sendBlob(req, res, digest, 'BLOB_UNKNOWN') });
  on('manifests/([^/]+)', {
    GET: async (req, res, name, tagOrDigest) => {
      const { digest, type } = await find(name, tagOrDigest);
      await sendBlob(req, res, digest, 'MANIFEST_UNKNOWN', type);
    },
    PUT: (req, res, name, tagOrDigest) => putManifest(req, res, name, tagOrDigest),
    DELETE: async (_req, res, name, tagOrDigest) => {
      await find(name, tagOrDigest);
      await rm(join(folderOf(name), tagOrDigest));
      res.status(202).end();
    },
  });
  on('tags/list', {
    GET: async (_req, res, name) => {
      const found = await readdir(folderOf(name)).catch(() => []);
      res.json({ name, tags: found.filter((fileName) => TAG.test(fileName)).sort() });
    },
  });
  return router;
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
