import { Duration } from '../amount.tsx';
import type { GridColumn } from '../data-grid.tsx';
import { Badge } from '../state.tsx';

export function methodColumn<Row extends { method: string }>(more: { hideOrder: number }): GridColumn<Row> {
  const cell = ({ method }: Row) => <Badge>{method}</Badge>;
  return { id: 'method', ...more, sortBy: ({ method }) => method, header: 'Method', width: 76, cell };
}

export function tookColumn<Row extends { durationMs: number }>(more: { hideOrder: number }): GridColumn<Row> {
  const cell = ({ durationMs }: Row) => <Duration ms={durationMs} />;
  return {
    id: 'took',
    ...more,
    sortBy: ({ durationMs }) => durationMs,
    header: 'Duration',
    width: 84,
    align: 'end',
    cell,
  };
}
