import type { ReactNode } from 'react';
import { Time } from '../../components/amount.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import type { BriefCommit } from './history-answers.ts';

export interface CommitRow {
  seq: number;
  /** Undefined while its block is read; null where the user may not see it. */
  commit: BriefCommit | null | undefined;
}

export const keyOfCommit = ({ seq }: CommitRow) => String(seq);
const WITHHELD = <span className="text-faint">You need permission to view what it changed</span>;
const DAY_MS = 24 * 60 * 60_000;
const DAY = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });

/** A cell that waits for its commit. */
function cellOf(draw: (commit: BriefCommit) => ReactNode): GridColumn<CommitRow>['cell'] {
  return ({ commit }) =>
    commit ? (
      draw(commit)
    ) : commit === null ? null : (
      <span aria-hidden className="inline-block h-2 w-3/5 rounded bg-line" />
    );
}

function sentenceOf({ sentence }: BriefCommit): ReactNode {
  return <span title={sentence}>{sentence}</span>;
}

export const COLUMNS: readonly GridColumn<CommitRow>[] = [
  { id: 'seq', header: 'Commit', width: 76, isMono: true, cell: ({ seq }) => seq },
  {
    id: 'time',
    header: 'Time',
    width: 116,
    hideOrder: 2,
    isMono: true,
    cell: cellOf(({ at }) => (
      <span className="text-muted">
        {Date.now() - Date.parse(at) < DAY_MS ? <Time at={at} as="clock" /> : DAY.format(Date.parse(at))}
      </span>
    )),
  },
  {
    id: 'via',
    header: 'Via',
    width: 76,
    hideOrder: 3,
    cell: cellOf(({ cause }) => <span className="text-muted">{cause.via}</span>),
  },
  {
    id: 'what',
    header: 'Change',
    width: { share: 3, minWidth: 200 },
    cell: (row) => (row.commit === null ? WITHHELD : cellOf(sentenceOf)?.(row)),
  },
  {
    id: 'resources',
    header: 'Resources',
    width: { share: 2, minWidth: 120 },
    hideOrder: 1,
    cell: cellOf(({ resources }) => <span className="text-muted">{resources.map(({ path }) => path).join(', ')}</span>),
  },
];

/** Fewer columns next to an open detail, which shows the source of the commit and all paths. */
export const COLUMNS_BESIDE: readonly GridColumn<CommitRow>[] = COLUMNS.filter(
  ({ id }) => id !== 'via' && id !== 'resources',
);
