import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { blocksOfRows, seqsOf } from './commit-blocks.ts';
import { actorOf, type BriefCommit, deedOf } from './history-answers.ts';
import { useCommits, type useSpan } from './use-commits.ts';

interface Row {
  seq: number;
  /** Undefined while its block is read. */
  commit: BriefCommit | undefined;
}

const keyOf = ({ seq }: Row) => String(seq);
const DAY_MS = 24 * 60 * 60_000;
const DAY = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });

/** A cell that waits for its commit. */
function cellOf(draw: (commit: BriefCommit) => ReactNode): GridColumn<Row>['cell'] {
  return ({ commit }) =>
    commit ? draw(commit) : <span aria-hidden className="inline-block h-2 w-3/5 rounded bg-line" />;
}

const COLUMNS: readonly GridColumn<Row>[] = [
  { id: 'seq', header: 'Commit', width: 76, isMono: true, cell: ({ seq }) => seq },
  {
    id: 'time',
    header: 'Time',
    width: 116,
    isMono: true,
    cell: cellOf(({ at }) => (
      <span className="text-muted">
        {Date.now() - Date.parse(at) < DAY_MS ? <Time at={at} as="clock" /> : DAY.format(Date.parse(at))}
      </span>
    )),
  },
  { id: 'who', header: 'Who', width: 110, cell: cellOf(actorOf) },
  {
    id: 'via',
    header: 'Through',
    width: 76,
    cell: cellOf(({ cause }) => <span className="text-muted">{cause.via}</span>),
  },
  { id: 'what', header: 'What', width: { share: 1, minWidth: 110 }, cell: cellOf(deedOf) },
  {
    id: 'resources',
    header: 'Resources',
    width: { share: 2, minWidth: 140 },
    cell: cellOf(({ resources }) => <span className="text-muted">{resources.map(({ path }) => path).join(', ')}</span>),
  },
];

/** Beside an open detail: it says who made the chosen commit and through what. */
const COLUMNS_BESIDE: readonly GridColumn<Row>[] = COLUMNS.flatMap((column) => {
  if (column.id === 'who' || column.id === 'via') return [];
  return column.id === 'what' ? { ...column, width: { share: 1, minWidth: 140 } } : column;
});

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
    () => seqsOf({ oldest, newest }).map((seq): Row => ({ seq, commit: commits.get(seq) })),
    [commits, oldest, newest],
  );
  const onDrawn = useCallback((first: number, last: number) => setDrawn({ first, last }), []);
  return (
    <DataGrid
      label="Commits"
      rows={rows}
      columns={selected === undefined ? COLUMNS : COLUMNS_BESIDE}
      keyOf={keyOf}
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
