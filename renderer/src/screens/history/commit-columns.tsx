import type { ReactNode } from 'react';
import { Time } from '../../parts/amount.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { actorOf, type BriefCommit, changeOf } from './history-answers.ts';

/** A commit in a list. */
export interface CommitRow {
  seq: number;
  /** Undefined while its block is read. */
  commit: BriefCommit | undefined;
}

export const keyOfCommit = ({ seq }: CommitRow) => String(seq);
const DAY_MS = 24 * 60 * 60_000;
const DAY = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });

/** A cell that waits for its commit. */
function cellOf(draw: (commit: BriefCommit) => ReactNode): GridColumn<CommitRow>['cell'] {
  return ({ commit }) =>
    commit ? draw(commit) : <span aria-hidden className="inline-block h-2 w-3/5 rounded bg-line" />;
}

export const COLUMNS: readonly GridColumn<CommitRow>[] = [
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
  { id: 'what', header: 'What', width: { share: 1, minWidth: 110 }, cell: cellOf(changeOf) },
  {
    id: 'resources',
    header: 'Resources',
    width: { share: 2, minWidth: 140 },
    cell: cellOf(({ resources }) => <span className="text-muted">{resources.map(({ path }) => path).join(', ')}</span>),
  },
];

/** Beside an open detail, which says who made the chosen commit, through what, and all paths. */
export const COLUMNS_BESIDE: readonly GridColumn<CommitRow>[] = COLUMNS.flatMap((column) => {
  if (column.id === 'who' || column.id === 'via') return [];
  if (column.id === 'what') return { ...column, width: { share: 1, minWidth: 140 } };
  return column.id === 'resources' ? { ...column, cell: cellOf(namesOf) } : column;
});

/** The end of a path tells more than its beginning where there is little room. */
function namesOf({ resources }: BriefCommit): ReactNode {
  return (
    <span className="text-muted" title={resources.map(({ path }) => path).join(', ')}>
      {resources.map(({ name }) => name).join(', ')}
    </span>
  );
}
