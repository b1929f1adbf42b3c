import type { StoreFiles } from './files.ts';

/** Folder of what was moved out of the journal's way, one file a compaction: `<first seq>-<last seq>.jsonl`. */
const FOLDER = 'history';
const SEGMENT = /^(\d+)-(\d+)\.jsonl$/;
const SEQ_DIGITS = 12;

/** One file of the history, with the sequence numbers of its first and its last commit. */
export interface Segment {
  name: string;
  firstSeq: number;
  lastSeq: number;
}

/** How the file of these commits is named. */
export function segmentName(firstSeq: number, lastSeq: number): string {
  const [first, last] = [firstSeq, lastSeq].map((seq) => String(seq).padStart(SEQ_DIGITS, '0'));
  return `${FOLDER}/${first}-${last}.jsonl`;
}

/** The files of the history, oldest first. */
export async function segmentsOf(files: StoreFiles): Promise<Segment[]> {
  const names = await files.list(FOLDER);
  return names.flatMap((name) => {
    const [, first, last] = SEGMENT.exec(name) ?? [];
    if (first === undefined) return [];
    return [{ name: `${FOLDER}/${name}`, firstSeq: Number(first), lastSeq: Number(last) }];
  });
}

/** Names of those that hold commits after a sequence number, oldest first. */
export async function segmentsAfter(files: StoreFiles, seq: number): Promise<string[]> {
  return (await segmentsOf(files)).filter(({ lastSeq }) => lastSeq > seq).map(({ name }) => name);
}

/** How long a file is, in bytes; 0 when there is none. */
export async function sizeOf(files: StoreFiles, name: string): Promise<number> {
  const handle = await files.openRead(name);
  await handle?.close();
  return handle?.sizeBytes ?? 0;
}
