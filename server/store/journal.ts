import { z } from 'zod';
import { type Commit, VIAS } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { reasonOf } from '../model/reason.ts';
import { AppendFile, type Done } from './append-file.ts';
import { fromCheckedLine, readCheckedLines, toCheckedLine } from './checked-line.ts';
import type { FsyncPolicy, ReadHandle, StoreFiles } from './files.ts';
import { linesBackwards } from './lines-backwards.ts';
import { segmentName, segmentsAfter, segmentsOf, sizeOf } from './segments.ts';
import { StoreError } from './store-error.ts';

/** The growing file: one line a commit. */
const JOURNAL_FILE = 'journal.jsonl';
/** How a line begins: enough to pass over those that are not wanted without parsing them. */
const LINE_BEGIN = /^\{"seq":(\d+),/;
const LINE_BEGIN_BYTES = 32;

/** How much of the history is kept at most; what the present world still needs is kept in any case. */
export interface Retention {
  maxCommits: number;
  maxBytes: number;
}

const cause = z.looseObject({
  actor: z.object({ id: z.string(), name: z.string() }).nullable(),
  via: z.enum(VIAS),
});
const operation = z.looseObject({ op: z.string(), path: z.string() });
/** Shape of a journal line. The checksum has shown that it is as it was written, so this finds only foreign lines. */
const commitLine = z.object({
  seq: z.int().positive(),
  atMs: z.number(),
  cause,
  ops: z.array(operation),
  inverse: z.array(operation),
  resources: z.array(z.object({ id: z.string(), type: z.string(), name: z.string(), path: z.string() })).default([]),
});

/**
 * The commits on disk: `journal.jsonl` and, before it, the files in `history/`. Together they are one sequence without
 * a gap; which of them a world still needs, its snapshot's `seq` tells, so moving a file is never part of a commit.
 */
export class Journal {
  readonly #files: StoreFiles;
  /** `journal.jsonl`. */
  readonly file: AppendFile;
  /** Sequence numbers of the first commit in `journal.jsonl` (or to come into it) and of the last durable one. */
  #firstSeq: number;
  #lastSeq: number;

  private constructor(files: StoreFiles, file: AppendFile, firstSeq: number, lastSeq: number) {
    this.#files = files;
    this.file = file;
    this.#firstSeq = firstSeq;
    this.#lastSeq = lastSeq;
  }

  /**
   * Opens the journal and replays what a snapshot does not contain yet.
   *
   * @param afterSeq the snapshot's seq
   * @param apply gets each later commit, in order; what it throws is told as damage of its line
   * @throws StoreError on damage or a gap
   */
  static async open(
    files: StoreFiles,
    fsync: FsyncPolicy,
    afterSeq: number,
    apply: (commit: Commit) => void,
    onWarning: (message: string) => void,
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
        advise: (line) => adviseOn(files, names.slice(index + 1), line, appliedSeq),
        ...(name === JOURNAL_FILE && {
          onTorn: (tornBytes: number) =>
            onWarning(
              `${files.pathOf(name)} ends in the middle of a line (${tornBytes} bytes), as a crash leaves it. ` +
                `That commit was never acknowledged and is dropped; the world is as of commit ${appliedSeq}.`,
            ),
        }),
      });
    }
    const file = new AppendFile(files, JOURNAL_FILE, fsync, end?.sizeBytes, end?.isTorn);
    if (firstSeq > 0) return new Journal(files, file, firstSeq, lastSeq);
    return new Journal(files, file, appliedSeq + 1, appliedSeq);
  }

  /** Are there commits at all, whatever becomes of them? */
  static async exists(files: StoreFiles): Promise<boolean> {
    return (await segmentsAfter(files, -1)).length > 0 || ((await files.read(JOURNAL_FILE))?.length ?? 0) > 0;
  }

  /** Writes one commit; `done` is called in order. */
  append(commit: Commit, done: Done): void {
    this.file.append(toCheckedLine(commit), (error) => {
      if (!error) this.#lastSeq = commit.seq;
      done(error);
    });
  }

  /** Moves what is in `journal.jsonl` to `history/`, so that the file starts anew. */
  async rotate(): Promise<void> {
    if (this.#lastSeq < this.#firstSeq) return;
    let lastSeq = 0;
    await this.file.moveTo(() => {
      lastSeq = this.#lastSeq;
      return segmentName(this.#firstSeq, lastSeq);
    });
    this.#firstSeq = lastSeq + 1;
  }

  /**
   * The durable commits before one, newest first, as far back as they are kept. No more of them is in memory than a
   * piece of a file; commits that are made meanwhile are not among them.
   *
   * @throws PlatformError 503 when a file is damaged
   */
  async *backwards(beforeSeq = Number.POSITIVE_INFINITY): AsyncGenerator<Commit> {
    const { handle, sizeBytes, segments } = await this.file.between(async () => ({
      handle: await this.#files.openRead(JOURNAL_FILE),
      sizeBytes: this.file.sizeBytes,
      segments: await segmentsOf(this.#files),
    }));
    if (handle) yield* this.#commitsIn(JOURNAL_FILE, handle, sizeBytes, beforeSeq);
    for (const { name, firstSeq } of segments.reverse()) {
      if (firstSeq >= beforeSeq) continue;
      const segment = await this.#files.openRead(name);
      if (!segment) return; // no longer kept, and so is what was before it
      yield* this.#commitsIn(name, segment, segment.sizeBytes, beforeSeq);
    }
  }

  /** The first commit that is kept, or the next one to come when none is. */
  async oldestSeq(): Promise<number> {
    return (await segmentsOf(this.#files))[0]?.firstSeq ?? this.#firstSeq;
  }

  async *#commitsIn(name: string, handle: ReadHandle, sizeBytes: number, beforeSeq: number): AsyncGenerator<Commit> {
    try {
      for await (const line of linesBackwards(handle, sizeBytes)) {
        const seq = Number(LINE_BEGIN.exec(line.toString('latin1', 0, LINE_BEGIN_BYTES))?.[1]);
        if (seq >= beforeSeq) continue;
        yield this.#parse(name, line);
      }
    } finally {
      await handle.close();
    }
  }

  #parse(name: string, line: Buffer): Commit {
    try {
      return parseCommit(fromCheckedLine(line));
    } catch (error) {
      throw new PlatformError(
        503,
        `The history cannot be read back: a line of ${this.#files.pathOf(name)} is damaged (${reasonOf(error)}). ` +
          'The present world does not depend on it. Bring the file back from a copy; nothing was changed.',
        { cause: error },
      );
    }
  }

  /**
   * Deletes the oldest files of the history, each as a whole, until no more is kept than wanted.
   *
   * @param snapshotSeq commits after this one are still needed
   */
  async trim({ maxCommits, maxBytes }: Retention, snapshotSeq: number): Promise<void> {
    const segments = await segmentsOf(this.#files);
    const sizes = await Promise.all(segments.map(({ name }) => sizeOf(this.#files, name)));
    let bytes = sizes.reduce((sum, size) => sum + size, this.file.sizeBytes);
    for (const [index, { name, firstSeq, lastSeq }] of segments.entries()) {
      const isTooMuch = this.#lastSeq - firstSeq + 1 > maxCommits || bytes > maxBytes;
      if (!isTooMuch || lastSeq > snapshotSeq) return;
      await this.#files.remove(name);
      bytes -= sizes[index] ?? 0;
    }
  }
}

function parseCommit(value: unknown): Commit {
  const parsed = commitLine.safeParse(value);
  if (!parsed.success) throw new Error('the line is no commit');
  // The operations' members beyond op and path differ by kind; applying them checks those.
  return parsed.data as Commit;
}

function adviseOn(files: StoreFiles, laterNames: readonly string[], line: number, keptSeq: number): string {
  const later = laterNames.length === 0 ? '' : ` and delete ${laterNames.map((name) => files.pathOf(name)).join(', ')}`;
  return (
    `The world is kept as of commit ${keptSeq}. To go on from there: copy the whole data folder to a safe place, ` +
    `then cut this file off before line ${line}${later}, and start again.`
  );
}

/** The error for commits whose snapshot is gone. */
export function snapshotMissing(files: StoreFiles, snapshot: string): StoreError {
  return new StoreError(
    files.pathOf(snapshot),
    `is missing, but ${files.pathOf(JOURNAL_FILE)} holds commits made on top of it. Nothing was changed. ` +
      'Bring the file back from a copy, or move the whole data folder away to start a new world.',
  );
}
