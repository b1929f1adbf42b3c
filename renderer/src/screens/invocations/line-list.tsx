import type { RecordedLine } from '../../../../server/api/routes/recorded.ts';
import { lineQuery } from '../../../../server/api/routes/recorded-queries.ts';
import type { GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { State } from '../../components/state.tsx';
import type { EventKind } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { executionColumn, lambdaColumn } from './invocation-columns.tsx';
import { PartList } from './part-list.tsx';
import { useLogLines } from './use-invocations.ts';

const isError = ({ stream }: RecordedLine) => stream === 'stderr';
const LOG_LINES: EventKind<RecordedLine> = {
  atMsOf: ({ at }) => Date.parse(at),
  states: [
    { is: 'idle', text: 'stdout', term: 'stream:stdout', figure: 'ok' },
    { is: 'error', text: 'stderr', term: 'stream:stderr', figure: 'failed' },
  ],
  views: [
    { name: 'Standard error', search: { q: 'stream:stderr' } },
    { name: 'Last ten minutes', search: { q: 'since:10m' } },
  ],
  query: {
    read: lineQuery,
    example: 'stream:stderr lambda:webform "no such lead"',
    suggestions: ['stream:stderr', 'since:10m', 'lambda:', 'trace:', 'text:"some text"'],
  },
};
const COLUMNS: readonly GridColumn<RecordedLine>[] = [
  timeColumn(({ at }) => at),
  {
    id: 'stream',
    sortBy: ({ stream }) => stream,
    hideOrder: 2,
    header: 'Stream',
    width: 84,
    cell: (line) => <State is={isError(line) ? 'error' : 'idle'}>{line.stream}</State>,
  },
  lambdaColumn({ hideOrder: 1 }),
  {
    id: 'text',
    sortBy: ({ text }) => text,
    header: 'Line',
    width: { share: 5, minWidth: 200 },
    isMono: true,
    cell: (line) => <span className={isError(line) ? 'text-error' : ''}>{line.text}</span>,
  },
  executionColumn({ hideOrder: 3 }),
];

/** The output of all lambdas, newest first, and the invocation behind one of the lines. */
export function LineList() {
  return (
    <PartList
      name="lines"
      label="Log lines"
      list={useLogLines()}
      columns={COLUMNS}
      events={LOG_LINES}
      firstTab="logs"
      empty={
        <EmptyState title="No output yet" text="Output of lambdas appears here immediately.">
          <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda</PlaceLink>
        </EmptyState>
      }
    />
  );
}
