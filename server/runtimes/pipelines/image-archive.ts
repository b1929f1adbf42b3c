import { posix } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Pack, pack } from 'tar-stream';
import { z } from 'zod';
import { jsonIn } from '../../model/json.ts';
import { Refusal } from './engine-requests.ts';

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

const MAX_NAMING_BYTES = 1_000_000;
const NAME_ANNOTATION = 'io.containerd.image.name';

const names = z.array(z.string()).nullish();
const index = z.object({
  schemaVersion: z.number(),
  mediaType: z.string().optional(),
  manifests: z.array(
    z.object({
      mediaType: z.string().optional(),
      digest: z.string(),
      size: z.number(),
      annotations: z.object({ [NAME_ANNOTATION]: z.string().optional() }).nullish(),
      platform: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
});
const manifest = z.array(
  z.object({ Config: z.string(), RepoTags: names, Layers: names, Parent: z.string().optional() }),
);
const repositories = z.record(z.string(), z.record(z.string(), z.string()));

/** Reads the files in which an archive names its images; other members than these are left out. */
const READERS: Readonly<Record<string, (content: unknown) => { content: unknown; names: string[] }>> = {
  'manifest.json'(json) {
    const content = manifest.parse(json);
    return { content, names: content.flatMap(({ RepoTags }) => RepoTags ?? []) };
  },
  'index.json'(json) {
    const content = index.parse(json);
    return { content, names: content.manifests.flatMap(({ annotations }) => annotations?.[NAME_ANNOTATION] ?? []) };
  },
  repositories(json) {
    const content = repositories.parse(json);
    const tagged = Object.entries(content).flatMap(([name, tags]) => Object.keys(tags).map((tag) => `${name}:${tag}`));
    return { content, names: tagged };
  },
};

/**
 * Copies an archive of images with the files that are known, and checks each name in it. The archive ends only once all names are checked:
 * an engine loads nothing from an archive without an end.
 */
export async function copyArchive(
  source: Readable,
  target: Writable,
  checkName: (name: string) => Promise<void>,
): Promise<void> {
  const [entries, copy] = [extract(), pack()];
  const isCompressed = await startsWithGzip(source);
  const reading = isCompressed ? pipeline(source, createGunzip(), entries) : pipeline(source, entries);
  const writing = pipeline(copy, target);
  const copying = (async () => {
    for await (const entry of entries) await copyEntry(entry, copy, checkName);
    copy.finalize();
  })().catch((failure) => {
    copy.destroy(failure);
    throw failure;
  });
  const ends = await Promise.allSettled([copying, reading, writing]);
  // That of the check comes first: it says why the others failed.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function copyEntry(entry: Entry, copy: Pack, checkName: (name: string) => Promise<void>): Promise<void> {
  const { name: entryName, type, size, linkname } = entry.header;
  const name = posix.normalize(entryName);
  const file = posix.basename(name);
  const refusal = new Refusal(403, `jobs cannot load an archive of images with '${entryName}'`);
  if (!/^[\w.:/@+-]+$/.test(name) || name.split('/').includes('..')) throw refusal;
  const read = Object.hasOwn(READERS, file) ? READERS[file] : undefined;
  if (type === 'directory') copy.entry({ name, type });
  // Equal layers are links to the first in archives of older engines.
  else if (type === 'symlink' && file === 'layer.tar' && linkname) copy.entry({ name, type, linkname });
  else if (type !== 'file') throw refusal;
  else if (read) {
    if ((size ?? 0) > MAX_NAMING_BYTES) throw refusal;
    let rebuilt: ReturnType<typeof read>;
    try {
      rebuilt = read(jsonIn((await buffer(entry)).toString()));
    } catch {
      throw refusal;
    }
    for (const image of rebuilt.names) await checkName(image);
    copy.entry({ name }, JSON.stringify(rebuilt.content));
    return;
  } else return void (await pipeline(entry, copy.entry({ name, size: size ?? 0 })));
  entry.resume();
}

async function startsWithGzip(source: Readable): Promise<boolean> {
  for (;;) {
    const start: Buffer | null = source.read();
    if (start && start.length > 0) {
      source.unshift(start);
      return start[0] === 0x1f;
    }
    if (source.readableEnded || source.destroyed) return false;
    await new Promise((resolve) => {
      source.once('readable', resolve).once('end', resolve).once('close', resolve);
    });
  }
}
