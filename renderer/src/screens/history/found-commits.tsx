import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { loadAs } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { DataGrid } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { COLUMNS, COLUMNS_BESIDE, type CommitRow, keyOfCommit } from './commit-columns.tsx';
import type { CommitPage } from './history-answers.ts';

const PAGE = 100;

export interface FoundCommitsProps {
  /** Words that a commit has to hold; empty: only the scope narrows. */
  text: string;
  selected: string | undefined;
  onSelect(seq: string): void;
}

/** The changes of the scope, and those that some words are about, newest first; the server looks for them. */
export function FoundCommits({ text, selected, onSelect }: FoundCommitsProps) {
  const [{ scope }, change] = useSearch();
  const q = useDeferredValue(text.trim());
  const found = useInfiniteQuery({
    queryKey: [keys.history, 'found', q, scope],
    queryFn: ({ pageParam, signal }) =>
      loadAs<CommitPage>(
        '/inspect/history',
        { q: q || undefined, scope, before: pageParam, limit: PAGE, brief: true },
        signal,
      ),
    // Of a page without a next one there is no more; an empty one may go on.
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }: CommitPage) => next,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(
    () =>
      found.data?.pages.flatMap(({ commits }) => commits.map((commit): CommitRow => ({ seq: commit.seq, commit }))) ??
      [],
    [found.data],
  );
  const { hasNextPage, isFetching, fetchNextPage } = found;
  const onNearEnd = useMemo(
    () => (hasNextPage && !isFetching ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetching, fetchNextPage],
  );
  return (
    <DataGrid
      label="Commits"
      rows={rows}
      columns={selected === undefined ? COLUMNS : COLUMNS_BESIDE}
      keyOf={keyOfCommit}
      selectedKey={selected}
      onSelect={onSelect}
      hrefOf={({ seq }) => hrefOf({ screen: 'history', search: { find: text, sel: String(seq) } }, scope)}
      onNearEnd={onNearEnd}
      isLoading={found.isPending || (rows.length === 0 && isFetching)}
      error={found.error}
      onRetry={() => void found.refetch()}
      isFiltered={text.trim() !== ''}
      onClearFilter={() => change({ find: undefined })}
      empty={
        <EmptyState
          title="Nothing has changed here"
          text="No commit that is kept is about what the scope at the top narrows to. Choose all organizations to see the others."
        />
      }
    />
  );
}
