import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { loadAs } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { blockOf, isComplete, readBlock } from './commit-blocks.ts';
import type { BriefCommit, CommitPage, Difference } from './history-answers.ts';

/** How long a block that has left the view is kept, milliseconds. */
const KEEP_BLOCK_MS = 10 * 60_000;

/** The moments between which one can look back; read anew after each commit. */
export function useSpan() {
  return useRead(keys.history, '/inspect/history', { limit: 1, brief: true });
}

/** The commits of some blocks, by their numbers. A complete block is read once; the newest one after each commit. */
export function useCommits(blocks: readonly number[], newest: number): ReadonlyMap<number, BriefCommit> {
  const answers = useQueries({
    queries: blocks.map((block) => ({
      queryKey: isComplete(block, newest) ? ['past-commits', block] : [keys.history, 'commits', block],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readBlock(block, (before, limit) =>
          loadAs<CommitPage>('/inspect/history', { before, limit, brief: true }, signal),
        ),
      gcTime: KEEP_BLOCK_MS,
      placeholderData: keepPreviousData,
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  return useMemo(() => new Map(answers.flatMap((block) => (block ?? []).map((one) => [one.seq, one]))), [answers]);
}

/** One commit, with the block that it is in. */
export function useCommit(seq: number | undefined, newest: number): BriefCommit | undefined {
  const blocks = useMemo(() => (seq === undefined || seq < 1 ? [] : [blockOf(seq)]), [seq]);
  return useCommits(blocks, newest).get(seq ?? 0);
}

/** How the world of a moment, or of a snapshot, differs from the present one; read anew after each commit. */
export function useDifference(since: Since) {
  return useQuery({
    queryKey: [keys.history, 'difference', since],
    queryFn: ({ signal }) => loadAs<Difference>(...differenceAddress(since, { brief: true }), signal),
  });
}

/** What one compares the present world with. */
export type Since = { seq: number } | { snapshot: string };

/** Where a difference is asked for. */
export function differenceAddress(
  since: Since,
  query: { brief?: boolean; resource?: string },
): [path: string, query: Record<string, string | number | boolean>] {
  return 'seq' in since
    ? ['/inspect/diff', { from: since.seq, ...query }]
    : [`/inspect/snapshots/${encodeURIComponent(since.snapshot)}/diff`, query];
}

/** Worlds kept under a name, oldest first. Nothing tells of them, so they are read when one looks. */
export function useSnapshots() {
  return useRead(keys.history, '/inspect/snapshots');
}
