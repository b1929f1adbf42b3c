import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import yazl from 'yazl';
import { z } from 'zod';
import type { KeyedLog } from '../model/keyed-log.ts';
import { maskedRecord } from '../model/masking.ts';
import { worldFileContent } from '../store/world-file.ts';
import type { WorldStore } from '../store/world-store.ts';
import { shownCommit } from './history-routes.ts';

/** Marks our archives, and the version of their form. */
const FORMAT = 1;
export const MANIFEST = 'manifest.json';
export const WORLD = 'world.json';
export const LEADS = 'leads.jsonl';
const HISTORY = 'history.jsonl';
const RESULTS = 'results.jsonl';

/** How many characters of lines go out at a time. */
const SLICE_CHARS = 64 * 1024;

/** What says that a zip is one of our archives, and that it is whole. */
export const manifestSchema = z.object({
  kind: z.literal('terrarium-archive'),
  format: z.literal(FORMAT),
  /** Of the emulator that made it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  /** Every other file in it. */
  files: z.record(z.string(), z.object({ sizeBytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
});
type Manifest = z.output<typeof manifestSchema>;

export interface ArchiveSource {
  store: WorldStore;
  leads: KeyedLog<object>;
  results: KeyedLog<object>;
  version: string;
  nowMs(): number;
}

/**
 * The whole instance as one zip: `world.json`, `history.jsonl` (a commit a line, the newest first), `leads.jsonl`,
 * `results.jsonl`, and `manifest.json` with the SHA-256 of each. Keys, tokens and certificates are not in it, and
 * `<hidden>` stands for passwords, values of secrets and credentials. It is made while it is read, a piece at a time.
 */
export async function archiveOf(source: ArchiveSource): Promise<Readable> {
  const { store } = source;
  const { seq, resources } = await store.history.worldAt({ seq: store.seq });
  const records = (function* () {
    for (const record of resources.values()) yield maskedRecord(record);
  })();
  const commits = async function* () {
    for await (const commit of store.history.commits(seq + 1)) yield shownCommit(commit);
  };
  const contents: Record<string, AsyncIterable<Uint8Array>> = {
    [WORLD]: worldFileContent(store.world.id, seq, records),
    [HISTORY]: linesOf(commits()),
    [LEADS]: linesOf(recordsOf(source.leads)),
    [RESULTS]: linesOf(recordsOf(source.results)),
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
      // yazl does not look after its sources: one that fails ends the archive, and when nobody reads on it lets go of its file.
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

/** Passes content on, and tells at its end how much it was and what its SHA-256 is. */
async function* measured(
  content: AsyncIterable<Uint8Array>,
  done: (file: Manifest['files'][string]) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    sizeBytes += chunk.length;
    yield chunk;
  }
  done({ sizeBytes, sha256: hash.digest('hex') });
}

/** Values as JSON, one a line. */
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

function* recordsOf(log: KeyedLog<object>): Generator<object> {
  for (const [key, record] of log.entries()) yield { key, record };
}
