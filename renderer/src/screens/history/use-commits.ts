import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { loadAs } from '../../api/client.ts';
import { useSeesAll } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { blockOf, isComplete, readBlock, seqsOfBlock } from './commit-blocks.ts';
import type { BriefCommit, CommitPage, Difference } from './history-answers.ts';

/** The time to keep a block that is no longer visible, in milliseconds. */
const KEEP_BLOCK_MS = 10 * 60_000;

/** The moments between which one can look back; read again after each commit. */
export function useSpan() {
  return useRead(keys.history, '/inspect/history', { limit: 1, brief: true });
}

/** The commits of some blocks, by their numbers. A complete block is read once; the newest one after each commit. */
export function useCommits(blocks: readonly number[], newest: number): ReadonlyMap<number, BriefCommit | null> {
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
    combine: (results) => results.map(({ data, isFetching }) => ({ data, isFetching })),
  });
  return useMemo(() => {
    const commits = new Map<number, BriefCommit | null>();
    for (const [index, { data, isFetching }] of answers.entries()) {
      // A commit that is missing in a block that was read is not for this user to see.
      const seqs = data && !isFetching ? seqsOfBlock(blocks[index] ?? 0) : [];
      for (const seq of seqs) commits.set(seq, null);
      for (const commit of data ?? []) commits.set(commit.seq, commit);
    }
    return commits;
  }, [answers, blocks]);
}

/** One commit, with the block that it is in; null where the user may not see it. */
export function useCommit(seq: number | undefined, newest: number): BriefCommit | null | undefined {
  const blocks = useMemo(() => (seq === undefined || seq < 1 ? [] : [blockOf(seq)]), [seq]);
  return useCommits(blocks, newest).get(seq ?? 0);
}

/** Reads the difference between the present world and the world of a moment or snapshot; read again after each commit. */
export function useDifference(since: Since) {
  return useQuery({
    queryKey: [keys.history, 'difference', since],
    queryFn: ({ signal }) => loadAs<Difference>(...differenceAddress(since, { brief: true }), signal),
  });
}

export type Since = { seq: number } | { snapshot: string };

export function differenceAddress(
  since: Since,
  query: { brief?: boolean; resource?: string },
): [path: string, query: Record<string, string | number | boolean>] {
  return 'seq' in since
    ? ['/inspect/diff', { from: since.seq, ...query }]
    : [`/inspect/snapshots/${encodeURIComponent(since.snapshot)}/diff`, query];
}

/** Worlds kept under a name, oldest first. No event reports them, so they are read when shown. */
export function useSnapshots() {
  const enabled = useSeesAll();
  return useRead(keys.history, '/inspect/snapshots', {}, { enabled });
}
