import { lineQuery } from '../../../../server/model/recorded-part-queries.ts';
import { useMarks } from '../../api/marks.ts';
import { Time } from '../../parts/amount.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListPane, type RowState } from '../../parts/list/list-pane.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { State } from '../../parts/state.tsx';
import type { SavedView } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { InvocationDetailPane } from './invocation-detail.tsx';
import { ListChoice } from './list-choice.tsx';
import { type RecordedLine, useLogLines } from './use-parts.ts';

const keyOf = ({ seq, executionId = '' }: RecordedLine) => `${seq}.${executionId}`;
const faultOf = (text: string) => {
  const query = lineQuery(text, Date.now());
  return query.ok ? undefined : query.fault;
};
const isError = ({ stream }: RecordedLine) => stream === 'stderr';
const pointOf = (line: RecordedLine) => ({ atMs: Date.parse(line.at), hasFailed: isError(line) });
const STATES: readonly RowState<RecordedLine>[] = [
  { is: 'ok', text: 'stdout', term: 'stream:stdout', has: (line) => !isError(line) },
  { is: 'error', text: 'stderr', term: 'stream:stderr', has: isError },
];
const VIEWS: readonly SavedView[] = [
  { name: 'Standard error', search: { q: 'stream:stderr' } },
  { name: 'Last ten minutes', search: { q: 'time:>10m' } },
];
const COLUMNS: readonly GridColumn<RecordedLine>[] = [
  {
    id: 'time',
    sortBy: ({ at }) => at,
    header: 'Time',
    width: 104,
    isMono: true,
    cell: ({ at }) => (
      <span className="text-muted">
        <Time at={at} as="clock" />
      </span>
    ),
  },
  {
    id: 'stream',
    sortBy: ({ stream }) => stream,
    gives: 2,
    header: 'Stream',
    width: 84,
    cell: (line) => <State is={isError(line) ? 'error' : 'idle'}>{line.stream}</State>,
  },
  {
    id: 'lambda',
    sortBy: ({ lambdaName }) => lambdaName,
    gives: 1,
    header: 'Lambda',
    width: { share: 1, minWidth: 110 },
    cell: ({ lambdaName }) => lambdaName,
  },
  {
    id: 'text',
    sortBy: ({ text }) => text,
    header: 'Line',
    width: { share: 5, minWidth: 200 },
    isMono: true,
    cell: (line) => <span className={isError(line) ? 'text-error' : ''}>{line.text}</span>,
  },
  {
    id: 'id',
    gives: 3,
    header: 'Execution',
    width: 84,
    isMono: true,
    cell: ({ executionId = '' }) => <span className="text-faint">{executionId.slice(0, 8)}</span>,
  },
];

/** What all lambdas printed, newest first, and the invocation behind one of the lines. */
export function LineList() {
  const marks = useMarks();
  const [{ q = '', sel, sort, scope, lambda }, change] = useSearch();
  const lines = useLogLines({ q: q || undefined, scope, lambda });
  const [, executionId] = sel?.split('.') ?? [];
  return (
    <ScreenFrame
      title="Invocations"
      bar={
        <QueryBar
          what="log lines"
          faultOf={faultOf}
          example='stream:stderr lambda:webform "no such lead"'
          suggestions={['stream:stderr', 'time:>10m', 'lambda:', 'trace:', 'text:"some text"']}
        />
      }
      actions={<ListChoice />}
    >
      <ListPane
        name="lines"
        label="Log lines"
        list={lines}
        columns={COLUMNS}
        keyOf={keyOf}
        pointOf={pointOf}
        states={STATES}
        marks={marks}
        views={VIEWS}
        hrefOf={(line) =>
          hrefOf({ screen: 'invocations', search: { list: 'lines', q, lambda, sort, sel: keyOf(line) } }, scope)
        }
        isFiltered={q !== '' || scope !== undefined || lambda !== undefined}
        onClearFilter={() => change({ q: undefined, scope: undefined, lambda: undefined })}
        empty={
          <EmptyState title="Nothing has been printed yet" text="Whatever a lambda prints stands here at once.">
            <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda by hand</PlaceLink>
          </EmptyState>
        }
        detailLabel="Invocation"
        detail={
          executionId && (
            <InvocationDetailPane
              key={executionId}
              id={executionId}
              isRunning={false}
              previousId={undefined}
              firstTab="logs"
            />
          )
        }
      />
    </ScreenFrame>
  );
}
