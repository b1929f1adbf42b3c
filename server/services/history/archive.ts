import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import yazl from 'yazl';
import { z } from 'zod';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { maskedRecord } from '../../model/rules/masking.ts';
import type { Chunks } from '../../storage/files/files.ts';
import { worldFileContent } from '../../storage/world/world-file.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';
import { toCommitView } from './history-routes.ts';

/** Marks our archives, and the version of their form. */
const FORMAT = 1;
export const MANIFEST = 'manifest.json';
export const WORLD = 'world.json';
const HISTORY = 'history.jsonl';

export const fileOf = (log: string) => `${log}.jsonl`;

const SLICE_CHARS = 64 * 1024;

/** Manifest that identifies a zip as an archive of Terrarium, and shows that it is complete. */
export const manifestSchema = z.object({
  kind: z.literal('terrarium-archive'),
  format: z.literal(FORMAT),
  version: z.string(),
  createdAt: z.iso.datetime(),
  files: z.record(z.string(), z.object({ sizeBytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
});
type Manifest = z.output<typeof manifestSchema>;

/** A log of another subject that an archive contains, as `{name}.jsonl`. */
export interface ArchivedLog {
  name: string;
  log: KeyedLog<object>;
  /** Loads what checks a record of an archive, and throws; without it they are not imported. */
  loadParser?(): Promise<(record: unknown) => object>;
}

export interface ArchiveSource {
  logs: readonly ArchivedLog[];
  version: string;
  nowMs(): number;
}

/**
 * The whole instance as one zip: `world.json`, `history.jsonl` (a commit a line, the newest first), a file for each log whose declaration
 * says so, and `manifest.json` with the SHA-256 of each. Keys, tokens and certificates are not in it, and
 * `<hidden>` represents passwords, values of secrets and credentials. It is made while it is read, a piece at a time.
 */
export async function archiveOf(store: WorldStore, source: ArchiveSource): Promise<Readable> {
  const { seq, resources } = await store.history.worldAt({ seq: store.seq });
  const records = (function* () {
    for (const record of resources.values()) yield maskedRecord(record);
  })();
  const commits = async function* () {
    for await (const commit of store.history.commits(seq + 1)) yield toCommitView(commit);
  };
  const contents: Record<string, Chunks> = {
    [WORLD]: worldFileContent(store.world.id, seq, records),
    [HISTORY]: linesOf(commits()),
    ...Object.fromEntries(
      source.logs.map(({ name, log }) => [
        fileOf(name),
        linesOf(Array.from(log.entries(), ([key, record]) => ({ key, record }))),
      ]),
    ),
  };

  const createdAt = new Date(source.nowMs());
  const manifest: Manifest = {
    kind: 'terrarium-archive',
    format: FORMAT,
    version: source.version,
    createdAt: createdAt.toISOString(),
    files: {},
  };
  const zip = new yazl.ZipFile();
  const output = zip.outputStream.pipe(new PassThrough());
  const add = (name: string, content: () => AsyncIterable<Uint8Array>) => {
    zip.addReadStreamLazy(name, { mtime: createdAt, mode: 0o100600 }, (start) => {
      const file = Readable.from(content());
      // yazl ignores errors of its sources: a failing source must end the archive, and an aborted download must close the source.
      file.once('error', (error) => output.destroy(error));
      output.once('close', () => file.destroy());
      start(null, file);
    });
  };
  for (const [name, content] of Object.entries(contents)) {
    add(name, () => measured(content, (file) => Object.assign(manifest.files, { [name]: file })));
  }
  // Its turn comes when all others have been read.
  add(MANIFEST, () => linesOf([manifest]));
  zip.end();
  return output;
}

async function* measured(content: Chunks, done: (file: Manifest['files'][string]) => void): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    sizeBytes += chunk.length;
    yield chunk;
  }
  done({ sizeBytes, sha256: hash.digest('hex') });
}

async function* linesOf(values: Iterable<object> | AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const value of values) {
    text += `${JSON.stringify(value)}\n`;
    if (text.length < SLICE_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
