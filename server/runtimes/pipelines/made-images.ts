import { posix } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Pack, pack } from 'tar-stream';
import { z } from 'zod';
import { jsonIn } from '../../model/json.ts';
import { Refusal } from './engine-requests.ts';

/** Label of the images that jobs build, with the path of their project. Not that of containers: a container has the labels of its image. */
export const PROJECT_LABEL = 'terrarium.project';

/** A name, without a digest. */
const IMAGE_NAME = /^\w[\w.-]*(?::\d+(?=\/))?(?:\/\w[\w.-]*)*(?::[\w.-]+)?$/;

const engineImage = z.object({
  Id: z.string(),
  RepoTags: z.array(z.string()).nullish(),
  RepoDigests: z.array(z.string()).nullish(),
  Labels: z.record(z.string(), z.string()).nullish(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

interface NamedImage {
  /** Names it for the engine: with a tag or digest, as a name alone could also be the start of another image's id. */
  name: string;
  image: z.infer<typeof engineImage> | undefined;
}

export interface MadeImagesOptions {
  project: string;
  /** Hosts of the platform's registry, under all of its addresses. */
  registries: readonly string[];
  /** Ids of the images that the run has made without a label, by name. */
  imageIds: Map<string, string>;
  askEngine(path: string): Promise<unknown>;
}

/** The images of an engine, and which of them the project of a run has made. */
export class MadeImages {
  readonly #options: MadeImagesOptions;
  /** Pulls whose end is not noted yet, by the names of the images. */
  readonly #pending = new Map<string, Promise<void>>();

  constructor(options: MadeImagesOptions) {
    this.#options = options;
  }

  /** Finds the image of a name, of an id or of the start of one. */
  async find(reference: string): Promise<NamedImage> {
    const name = fullName(reference);
    await this.#pending.get(name);
    const named = /^sha256:/.test(reference) ? undefined : await this.#read(name);
    if (named) return { name, image: named };
    const image = /^(?:sha256:)?[\da-f]{4,64}$/.test(reference) ? await this.#read(reference) : undefined;
    return { name: image?.Id ?? name, image };
  }

  /** Checks an image: has the run, or an earlier run of its project, made it? */
  isMade({ name, image }: NamedImage): boolean {
    if (!image) return false;
    if (this.#isLabeled(image)) return true;
    const names = name === image.Id ? (image.RepoTags ?? []) : [name];
    return names.length > 0 && names.every((tag) => this.#isNoted(tag, image.Id));
  }

  /** Checks that a name is new or of an image that the project has made; rejects with a sentence otherwise. */
  async requireClaim(reference: string): Promise<void> {
    if (!IMAGE_NAME.test(reference)) throw new Refusal(400, `'${reference}' is no name of an image`);
    const named = await this.find(fullName(reference));
    if (named.image && !this.isMade(named))
      throw new Refusal(403, `this run did not make the image '${reference}' of this machine. Choose another name.`);
  }

  /** Keeps only names of images that the project has made. */
  madeOf(list: unknown): object[] {
    return (Array.isArray(list) ? list : []).flatMap((entry: unknown) => {
      const { success, data } = engineImage.safeParse(entry);
      if (!success) return [];
      const RepoTags = (data.RepoTags ?? []).filter((tag) => this.#isLabeled(data) || this.#isNoted(tag, data.Id));
      return RepoTags.length > 0 ? [{ ...Object(entry), RepoTags, RepoDigests: [] }] : [];
    });
  }

  /** Notes a name once an operation that gives it to an image has ended. */
  note(reference: string, ended: Promise<void>, isResult: (image: NonNullable<NamedImage['image']>) => boolean): void {
    const name = fullName(reference);
    const noted = ended.then(async () => {
      const image = await this.#read(name).catch(() => undefined);
      if (image && isResult(image)) this.#options.imageIds.set(name, image.Id);
      this.#pending.delete(name);
    });
    this.#pending.set(name, noted);
  }

  #isLabeled({ Labels, Config }: NonNullable<NamedImage['image']>): boolean {
    const labels = Config?.Labels ?? Labels ?? {};
    return labels[PROJECT_LABEL] === this.#options.project;
  }

  #isNoted(reference: string, id: string): boolean {
    const { imageIds, registries, project } = this.#options;
    const name = fullName(reference);
    const isOfProject = registries.some((host) => {
      const repository = `${host}/${project}`;
      return name.startsWith(repository) && /^[/:@]/.test(name.slice(repository.length));
    });
    return isOfProject || imageIds.get(name) === id;
  }

  async #read(reference: string): Promise<NamedImage['image']> {
    return engineImage.optional().parse(await this.#options.askEngine(`/images/${reference}/json`));
  }
}

/** Takes the name of an image apart; the tag can be a digest. Throws a refusal of what is no name. */
export function partsOf(reference: string): { name: string; repository: string; tag: string } {
  const name = fullName(reference);
  const [, repository = '', digest, tag = ''] = /^(.+?)(?:@(sha256:[\da-f]{64})|:([\w.-]+))$/.exec(name) ?? [];
  if (!IMAGE_NAME.test(`${repository}:tag`)) throw new Refusal(400, `'${reference}' is no name of an image`);
  return { name, repository, tag: digest ?? tag };
}

/** The shortest form of a name of Docker's own registry, with its tag, as the engine lists it. */
function fullName(name: string): string {
  const short = name.replace(/^(?:index\.)?docker\.io\//, '').replace(/^library\//, '');
  return /:[^/]+$|@/.test(short) ? short : `${short}:latest`;
}

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
