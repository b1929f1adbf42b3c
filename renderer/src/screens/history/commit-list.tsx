import { useCallback, useMemo, useState } from 'react';
import { DataGrid } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { blocksOfRows, seqsOf } from './commit-blocks.ts';
import { COLUMNS, COLUMNS_BESIDE, type CommitRow, keyOfCommit } from './commit-columns.tsx';
import { useCommits, type useSpan } from './use-commits.ts';

export interface CommitListProps {
  span: ReturnType<typeof useSpan>;
  selected: string | undefined;
  onSelect(seq: string): void;
}

/** Every change that is kept, newest first; however many there are, only those in sight are read. */
export function CommitList({ span, selected, onSelect }: CommitListProps) {
  const [{ scope }] = useSearch();
  const [drawn, setDrawn] = useState({ first: 0, last: 60 });
  const { oldest = 0, newest = 0 } = span.data ?? {};
  const blocks = useMemo(
    () => (newest > oldest ? blocksOfRows(drawn.first, Math.min(drawn.last, newest - oldest - 1), newest) : []),
    [drawn, oldest, newest],
  );
  const commits = useCommits(blocks, newest);
  const rows = useMemo(
    () => seqsOf({ oldest, newest }).map((seq): CommitRow => ({ seq, commit: commits.get(seq) })),
    [commits, oldest, newest],
  );
  const onDrawn = useCallback((first: number, last: number) => setDrawn({ first, last }), []);
  return (
    <DataGrid
      label="Commits"
      rows={rows}
      columns={selected === undefined ? COLUMNS : COLUMNS_BESIDE}
      keyOf={keyOfCommit}
      selectedKey={selected}
      onSelect={onSelect}
      hrefOf={({ seq }) => hrefOf({ screen: 'history', search: { sel: String(seq) } }, scope)}
      onDrawn={onDrawn}
      isLoading={span.isPending}
      error={span.error}
      onRetry={() => void span.refetch()}
      empty={
        <EmptyState
          title="Nothing has changed yet"
          text="The world is as it was made. Each change shows up here and can be taken back."
        />
      }
    />
  );
}
