import { Duration } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import type { GridColumn } from '../../components/data-grid.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { State } from '../../components/state.tsx';
import { conditionOf, statusOf } from './invocation-words.ts';
import type { InvocationSummary } from './use-invocations.ts';

/** One that has ended, or one that waits or runs. */
export type InvocationRow = Pick<
  InvocationSummary,
  'executionId' | 'lambdaId' | 'lambdaName' | 'trigger' | 'acceptedAt' | 'excerpt' | 'durationMs'
> &
  Partial<InvocationSummary>;

export const keyOfInvocation = ({ executionId }: Pick<InvocationRow, 'executionId'>) => executionId;

/** @param longestMs what the longest bar represents */
export function invocationColumns(longestMs: number): readonly GridColumn<InvocationRow>[] {
  return [
    {
      id: 'status',
      sortBy: (row) => statusOf(row),
      header: 'Status',
      width: 104,
      cell: (row) => <State is={conditionOf(row)}>{statusOf(row)}</State>,
    },
    timeColumn((row) => row.acceptedAt),
    lambdaColumn(),
    {
      id: 'trigger',
      hideOrder: 5,
      header: 'Trigger',
      width: 80,
      isMuted: true,
      text: ({ trigger }) => trigger,
    },
    {
      id: 'duration',
      sortBy: (row) => row.durationMs,
      hideOrder: 2,
      header: 'Duration',
      width: 136,
      align: 'end',
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <Bar share={Math.min(1, row.durationMs / longestMs)} isError={conditionOf(row) === 'error'} />
          <Duration ms={row.durationMs} />
        </span>
      ),
    },
    {
      id: 'http',
      hideOrder: 4,
      header: 'HTTP',
      width: 52,
      align: 'end',
      isMuted: true,
      text: ({ httpStatus }) => httpStatus,
    },
    {
      id: 'out',
      sortBy: (row) => row.outboundFailures || row.outboundCalls,
      hideOrder: 3,
      header: 'Calls',
      width: 64,
      align: 'end',
      cell: ({ outboundCalls, outboundFailures }) =>
        outboundFailures ? (
          <span
            className="text-error"
            title={`${outboundFailures} of ${counted(outboundCalls ?? outboundFailures, 'call')} failed`}
          >
            {outboundFailures} of {outboundCalls}
          </span>
        ) : (
          outboundCalls
        ),
    },
    {
      id: 'result',
      sortBy: (row) => row.excerpt,
      hideOrder: 1,
      header: 'Result',
      width: { share: 2, minWidth: 120 },
      isMono: true,
      cell: ({ excerpt, outcome }) => <span className={outcome?.ok === false ? 'text-error' : ''}>{excerpt}</span>,
    },
    executionColumn({ hideOrder: 6 }),
  ];
}

export function lambdaColumn<Row extends { lambdaName: string }>(more: { hideOrder?: number } = {}): GridColumn<Row> {
  const width = { share: 1, minWidth: 110 };
  return { id: 'lambda', ...more, header: 'Lambda', width, text: ({ lambdaName }) => lambdaName };
}

/** The invocation that it is, or is part of. */
export function executionColumn<Row extends { executionId?: string | undefined }>(more: {
  hideOrder: number;
}): GridColumn<Row> {
  const cell = ({ executionId = '' }: Row) => <span className="text-faint">{executionId.slice(0, 8)}</span>;
  return { id: 'id', ...more, header: 'Execution', width: 84, isMono: true, cell };
}

const BAR_PX = 48;

function Bar({ share, isError }: { share: number; isError: boolean }) {
  return (
    <svg aria-hidden width={BAR_PX} height={6}>
      <rect
        x={BAR_PX - Math.max(3, share * BAR_PX)}
        width={Math.max(3, share * BAR_PX)}
        height={6}
        rx={3}
        className="grow"
        fill={isError ? 'var(--error)' : 'var(--span-handler)'}
      />
    </svg>
  );
}
