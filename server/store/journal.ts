import { z } from 'zod';
import type { Commit } from '../model/commit.ts';
import { AppendFile, type Done } from './append-file.ts';
import { readCheckedLines, toCheckedLine } from './checked-line.ts';
import type { FsyncPolicy, StoreFiles } from './files.ts';
import { StoreError } from './store-error.ts';

/** The growing file: one line a commit. */
const JOURNAL_FILE = 'journal.jsonl';
/** Folder of what was moved out of the journal's way, one file a compaction: `<first seq>-<last seq>.jsonl`. */
const HISTORY_FOLDER = 'history';
const SEGMENT = /^(\d+)-(\d+)\.jsonl$/;
const SEQ_DIGITS = 12;

const cause = z.looseObject({
  actor: z.object({ id: z.string(), name: z.string() }).nullable(),
  via: z.enum(['api', 'ui', 'cli', 'seed', 'engine', 'startup']),
});
const operation = z.looseObject({ op: z.string(), path: z.string() });
/** Shape of a journal line. The checksum has shown that it is as it was written, so this finds only foreign lines. */
const commitLine = z.object({
  seq: z.int().positive(),
  atMs: z.number(),
  cause,
  ops: z.array(operation),
  inverse: z.array(operation),
});

/**
 * The commits on disk: `journal.jsonl` and, before it, the files in `history/`. Together they are one sequence without
 * a gap; which of them a world still needs, its snapshot's `seq` tells, so moving a file is never part of a commit.
 */
export class Journal {
  readonly #file: AppendFile;
  /** Sequence numbers of the first commit in `journal.jsonl` (or to come into it) and of the last durable one. */
  #firstSeq: number;
  #lastSeq: number;

  private constructor(file: AppendFile, firstSeq: number, lastSeq: number) {
    this.#file = file;
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
    return firstSeq === 0 ? new Journal(file, appliedSeq + 1, appliedSeq) : new Journal(file, firstSeq, lastSeq);
  }

  /** Are there commits at all, whatever becomes of them? */
  static async exists(files: StoreFiles): Promise<boolean> {
    return (await segmentsAfter(files, -1)).length > 0 || ((await files.read(JOURNAL_FILE))?.length ?? 0) > 0;
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  get failure(): AppendFile['failure'] {
    return this.#file.failure;
  }

  /** Writes one commit; `done` is called in order. */
  append(commit: Commit, done: Done): void {
    this.#file.append(toCheckedLine(commit), (error) => {
      if (!error) this.#lastSeq = commit.seq;
      done(error);
    });
  }

  /** Resolves when everything appended so far is durable; rejects when it was taken back. */
  settled(): Promise<void> {
    return this.#file.settled();
  }

  /** Moves what is in `journal.jsonl` to `history/`, so that the file starts anew. */
  async rotate(): Promise<void> {
    if (this.#lastSeq < this.#firstSeq) return;
    let lastSeq = 0;
    await this.#file.moveTo(() => {
      lastSeq = this.#lastSeq;
      const [first, last] = [this.#firstSeq, lastSeq].map((seq) => String(seq).padStart(SEQ_DIGITS, '0'));
      return `${HISTORY_FOLDER}/${first}-${last}.jsonl`;
    });
    this.#firstSeq = lastSeq + 1;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function parseCommit(value: unknown): Commit {
  const parsed = commitLine.safeParse(value);
  if (!parsed.success) throw new Error('the line is no commit');
  // The operations' members beyond op and path differ by kind; applying them checks those.
  return parsed.data as Commit;
}

async function segmentsAfter(files: StoreFiles, seq: number): Promise<string[]> {
  const names = await files.list(HISTORY_FOLDER);
  return names.filter((name) => Number(SEGMENT.exec(name)?.[2] ?? -1) > seq).map((name) => `${HISTORY_FOLDER}/${name}`);
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
