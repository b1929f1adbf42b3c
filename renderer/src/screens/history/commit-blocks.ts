import type { BriefCommit, CommitPage } from './history-answers.ts';

/** Commits are read in blocks of so many: numbers have no gaps, so any block can be asked for without those before it. */
const BLOCK = 200;

export function blockOf(seq: number): number {
  return Math.floor((seq - 1) / BLOCK);
}

export function seqsOfBlock(block: number): number[] {
  return Array.from({ length: BLOCK }, (_, index) => block * BLOCK + 1 + index);
}

/** Is the last commit of a block made? Then nothing of it will ever change. */
export function isComplete(block: number, newest: number): boolean {
  return (block + 1) * BLOCK <= newest;
}

/** The blocks of the rows that are drawn, in a list that begins with the newest. */
export function blocksOfRows(first: number, last: number, newest: number): number[] {
  const [low, high] = [blockOf(Math.max(1, newest - last)), blockOf(Math.max(1, newest - first))];
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}

/**
 * Reads a block; the server may give it in several pages.
 *
 * @param loadPage asks for up to `limit` commits before one
 * @returns newest first
 */
export async function readBlock(
  block: number,
  loadPage: (before: number, limit: number) => Promise<CommitPage>,
): Promise<BriefCommit[]> {
  const firstSeq = block * BLOCK + 1;
  const commits: BriefCommit[] = [];
  for (let before = firstSeq + BLOCK; before > firstSeq; ) {
    const page = await loadPage(before, before - firstSeq);
    commits.push(...page.commits.filter(({ seq }) => seq >= firstSeq));
    if (page.next === undefined || page.next >= before) break;
    before = page.next;
  }
  return commits;
}

/** Numbers of all commits between two moments, the newest first. */
export function seqsOf({ oldest, newest }: Pick<CommitPage, 'oldest' | 'newest'>): number[] {
  return Array.from({ length: Math.max(0, newest - oldest) }, (_, index) => newest - index);
}
