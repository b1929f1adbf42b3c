import type { Commit } from '../../model/commit.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import { AppendFile, type Done, NEXT } from '../files/append-file.ts';
import { fromCheckedLine, readCheckedLines, toCheckedLine } from '../files/checked-line.ts';
import { type FsyncPolicy, type ReadHandle, StoreError, type StoreFiles } from '../files/files.ts';

const JOURNAL_FILE = 'journal.jsonl';

/** Folder for the compacted parts of the journal, one file each: `<first seq>-<last seq>.jsonl`. */
const FOLDER = 'history';
const SEGMENT = /^(\d+)-(\d+)\.jsonl$/;
const SEQ_DIGITS = 12;
/** The beginning of a line, sufficient to skip lines without parsing them. */
const LINE_BEGIN = /^\{"seq":(\d+),/;
const LINE_BEGIN_BYTES = 32;

/** Limits of the history: the newest commits within both are kept. Commits that the current world needs are always on disk. */
export interface Retention {
  maxCommits: number;
  maxBytes: number;
}

export interface JournalOptions {
  fsync: FsyncPolicy;
  retention: Retention;
  onWarning(message: string): void;
}

/** `journal.jsonl` after the files in `history/`, without gaps. The snapshot's `seq` tells which the world needs. */
export class Journal {
  readonly #files: StoreFiles;
  readonly #retention: Retention;
  readonly file: AppendFile;
  /** Sequence numbers of the first commit in `journal.jsonl` (or the next one) and of the last durable one. */
  #firstSeq: number;
  #lastSeq: number;

  private constructor(files: StoreFiles, retention: Retention, file: AppendFile, firstSeq: number, lastSeq: number) {
    this.#files = files;
    this.#retention = retention;
    this.file = file;
    this.#firstSeq = firstSeq;
    this.#lastSeq = lastSeq;
  }

  /** Opens the journal and replays the commits after a snapshot. Throws StoreError on damage or a gap. */
  static async open(
    files: StoreFiles,
    { fsync, retention, onWarning }: JournalOptions,
    afterSeq: number,
    apply: (commit: Commit) => void,
  ): Promise<Journal> {
    const names = [...(await segmentsAfter(files, afterSeq)), JOURNAL_FILE];
    let appliedSeq = afterSeq;
    let end: { sizeBytes: number; isTorn: boolean } | undefined;
    let firstSeq = 0;
    let lastSeq = 0;
    for (const [index, name] of names.entries()) {
      firstSeq = 0;
      lastSeq = 0;
      end = await readCheckedLines(files, name, {
        accept(value) {
          const commit = parseCommit(value);
          const expectedSeq = lastSeq > 0 ? lastSeq + 1 : Math.min(commit.seq, appliedSeq + 1);
          if (commit.seq !== expectedSeq) throw new Error(`commit ${expectedSeq} is missing, this is ${commit.seq}`);
          if (commit.seq > appliedSeq) apply(commit);
          appliedSeq = Math.max(appliedSeq, commit.seq);
          firstSeq ||= commit.seq;
          lastSeq = commit.seq;
        },
        advise: (line) => adviceFor(files, names.slice(index + 1), line, appliedSeq),
        ...(name === JOURNAL_FILE && {
          onTorn: (tornBytes: number) =>
            onWarning(
              `${files.pathOf(name)} ends in the middle of a line (${tornBytes} bytes), as after a crash. That commit was never ` +
                `acknowledged and is dropped; the world is as of commit ${appliedSeq}.`,
            ),
        }),
      });
    }
    const file = new AppendFile(files, JOURNAL_FILE, fsync, end?.sizeBytes, end?.isTorn);
    if (!end) await file.create();
    if (firstSeq > 0) return new Journal(files, retention, file, firstSeq, lastSeq);
    return new Journal(files, retention, file, appliedSeq + 1, appliedSeq);
  }

  static reportMissing(files: StoreFiles, afterSeq: number, { onWarning }: JournalOptions): void {
    const exists = (name: string) => files.readAt(name, 0, 0) !== undefined;
    if (!files.wasKilled || exists(JOURNAL_FILE) || exists(`${JOURNAL_FILE}${NEXT}`)) return;
    onWarning(
      `${files.pathOf(JOURNAL_FILE)} is missing, although the platform was not stopped. The world is as of commit ${afterSeq}: later changes, ` +
        'if there were any, are lost. If you have the file, stop the platform, put it back, and start again.',
    );
  }

  static async exists(files: StoreFiles): Promise<boolean> {
    return (await segmentsAfter(files, -1)).length > 0 || ((await files.read(JOURNAL_FILE))?.length ?? 0) > 0;
  }

  append(commit: Commit, done: Done): void {
    this.file.append(toCheckedLine(commit), (error) => {
      if (!error) this.#lastSeq = commit.seq;
      done(error);
    });
  }

  /** Moves the content of `journal.jsonl` to `history/`, so that the file starts again. */
  async rotate(): Promise<void> {
    if (this.#lastSeq < this.#firstSeq) return;
    let lastSeq = 0;
    await this.file.moveTo(() => {
      lastSeq = this.#lastSeq;
      return segmentName(this.#firstSeq, lastSeq);
    });
    this.#firstSeq = lastSeq + 1;
  }

  /** The kept durable commits before one, newest first, with a part of a file in memory at a time. Throws 503 if a file is damaged. */
  async *backwards(beforeSeq = Number.POSITIVE_INFINITY): AsyncGenerator<Commit> {
    const oldestSeq = this.#lastSeq - this.#retention.maxCommits + 1;
    const { handle, sizeBytes, segments } = await this.file.between(async () => ({
      handle: await this.#files.openRead(JOURNAL_FILE),
      sizeBytes: this.file.sizeBytes,
      segments: await segmentsOf(this.#files),
    }));
    const range = { oldestSeq, beforeSeq };
    if (handle) yield* this.#commitsIn(JOURNAL_FILE, handle, sizeBytes, range);
    for (const { name, firstSeq, lastSeq } of segments.reverse()) {
      if (firstSeq >= beforeSeq) continue;
      if (lastSeq < oldestSeq) return;
      const segment = await this.#files.openRead(name);
      if (!segment) return; // no longer kept, like everything before it
      yield* this.#commitsIn(name, segment, segment.sizeBytes, range);
    }
  }

  async oldestSeq(): Promise<number> {
    const storedSeq = (await segmentsOf(this.#files))[0]?.firstSeq ?? this.#firstSeq;
    return Math.max(storedSeq, this.#lastSeq - this.#retention.maxCommits + 1);
  }

  async *#commitsIn(
    name: string,
    handle: ReadHandle,
    sizeBytes: number,
    { oldestSeq, beforeSeq }: { oldestSeq: number; beforeSeq: number },
  ): AsyncGenerator<Commit> {
    for await (const line of linesBackwards(handle, sizeBytes)) {
      const seq = seqOf(line);
      if (seq >= beforeSeq) continue;
      if (seq < oldestSeq) return;
      yield this.#parse(name, line);
    }
  }

  #parse(name: string, line: Buffer): Commit {
    try {
      return parseCommit(fromCheckedLine(line));
    } catch (error) {
      throw new PlatformError(
        'storage_failed',
        `the history cannot be read: a line of ${this.#files.pathOf(name)} is damaged (${reasonOf(error)}). The current world does ` +
          'not depend on it. Restore the file from a copy; nothing was changed.',
        { cause: error },
      );
    }
  }

  /** Removes the oldest commits from `history/` until the limits are met, except for those after the snapshot. */
  async trim(snapshotSeq: number): Promise<void> {
    const oldestSeq = this.#lastSeq - this.#retention.maxCommits + 1;
    let freeBytes = this.#retention.maxBytes - this.file.sizeBytes;
    const excess: { name: string; lastSeq: number; keptBytes: number }[] = [];
    for (const { name, firstSeq, lastSeq } of (await segmentsOf(this.#files)).reverse()) {
      const sizeBytes = await sizeOf(this.#files, name);
      const isExcess = firstSeq < oldestSeq || sizeBytes > freeBytes;
      if (isExcess && lastSeq <= snapshotSeq) excess.push({ name, lastSeq, keptBytes: Math.max(0, freeBytes) });
      freeBytes -= sizeBytes;
    }
    // The oldest first, so that a crash leaves no gap.
    for (const { name, lastSeq, keptBytes } of excess.reverse()) {
      const newest = await this.#newestLines(name, oldestSeq, keptBytes);
      if (newest.lines.length === 0) {
        await this.#files.remove(name);
        continue;
      }
      await this.#files.replace(name, newest.lines);
      await this.#files.rename(name, segmentName(newest.firstSeq, lastSeq));
    }
  }

  /** Returns the last lines of a segment, each with its line end, from a commit on and up to a size. */
  async #newestLines(
    name: string,
    oldestSeq: number,
    maxBytes: number,
  ): Promise<{ lines: Buffer[]; firstSeq: number }> {
    const lines: Buffer[] = [];
    let [firstSeq, sizeBytes] = [0, 0];
    const handle = await this.#files.openRead(name);
    for await (const line of handle ? linesBackwards(handle, handle.sizeBytes) : []) {
      sizeBytes += line.length + 1;
      if (seqOf(line) < oldestSeq || sizeBytes > maxBytes) break;
      firstSeq = seqOf(line);
      lines.push(Buffer.concat([line, LINE_END]));
    }
    return { lines: lines.reverse(), firstSeq };
  }
}

/** Reads a commit's sequence number from the beginning of its line, without parsing the rest. */
function seqOf(line: Buffer): number {
  return Number(LINE_BEGIN.exec(line.toString('latin1', 0, LINE_BEGIN_BYTES))?.[1]);
}

/** The checksum has verified the content of a line, so this only detects lines of other files. */
function parseCommit(value: unknown): Commit {
  if (
    !isJsonObject(value) ||
    !Number.isInteger(value.seq) ||
    !Array.isArray(value.ops) ||
    !Array.isArray(value.inverse)
  )
    throw new Error('the line is not a commit');
  // Versions before 2026-11-21 wrote no resources.
  const { crc: _, resources = [], ...commit } = value;
  return { ...commit, resources } as object as Commit; // as `append` has written it
}

function adviceFor(files: StoreFiles, laterNames: readonly string[], line: number, keptSeq: number): string {
  const later = laterNames.length === 0 ? '' : ` and delete ${laterNames.map((name) => files.pathOf(name)).join(', ')}`;
  return (
    `The world is kept as of commit ${keptSeq}. To continue from there: copy the whole data folder to a safe place, then cut this ` +
    `file off before line ${line}${later}, and start again.`
  );
}

export function snapshotMissing(files: StoreFiles, snapshot: string): StoreError {
  return new StoreError(
    files.pathOf(snapshot),
    `is missing, but ${files.pathOf(JOURNAL_FILE)} contains later commits. Nothing was changed. Restore the file from a copy, or ` +
      'move the whole data folder away to start a new world.',
  );
}

function segmentName(firstSeq: number, lastSeq: number): string {
  const [first, last] = [firstSeq, lastSeq].map((seq) => String(seq).padStart(SEQ_DIGITS, '0'));
  return `${FOLDER}/${first}-${last}.jsonl`;
}

async function segmentsOf(files: StoreFiles): Promise<{ name: string; firstSeq: number; lastSeq: number }[]> {
  const names = await files.list(FOLDER);
  return names.flatMap((name) => {
    const [, first, last] = SEGMENT.exec(name) ?? [];
    if (first === undefined) return [];
    return [{ name: `${FOLDER}/${name}`, firstSeq: Number(first), lastSeq: Number(last) }];
  });
}

async function segmentsAfter(files: StoreFiles, seq: number): Promise<string[]> {
  return (await segmentsOf(files)).filter(({ lastSeq }) => lastSeq > seq).map(({ name }) => name);
}

async function sizeOf(files: StoreFiles, name: string): Promise<number> {
  const handle = await files.openRead(name);
  await handle?.close();
  return handle?.sizeBytes ?? 0;
}

const NEWLINE = 0x0a;
const LINE_END = Buffer.from([NEWLINE]);
const CHUNK_BYTES = 64 * 1024;

/** The complete lines of a file, last first, without line ends; at most a chunk and a line are in memory. Closes it at the end. */
async function* linesBackwards(handle: ReadHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []; // the beginning of the line that the last chunk cut, in order
  try {
    for (let end = sizeBytes; end > 0; ) {
      const start = Math.max(0, end - CHUNK_BYTES);
      let chunk = await handle.read(start, end - start);
      end = start;
      for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; at = chunk.lastIndexOf(NEWLINE)) {
        const line = Buffer.concat([chunk.subarray(at + 1), ...rest]);
        if (line.length > 0) yield line;
        rest = [];
        chunk = chunk.subarray(0, at);
      }
      rest.unshift(chunk);
    }
    const first = Buffer.concat(rest);
    if (first.length > 0) yield first;
  } finally {
    await handle.close();
  }
}
