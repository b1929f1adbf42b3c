import { Time } from '../amount.tsx';
import type { GridColumn } from '../data-grid.tsx';

/** When something happened, by the clock: a list of what happened is sorted by this column unless another is chosen. */
export function timeColumn<Row>(
  atOf: (row: Row) => string,
  { hideOrder }: { hideOrder?: number } = {},
): GridColumn<Row> {
  return {
    id: 'time',
    sortBy: atOf,
    ...(hideOrder !== undefined && { hideOrder: hideOrder }),
    header: 'Time',
    // To the millisecond, and the margin of a first column.
    width: 116,
    isMono: true,
    cell: (row) => (
      <span className="text-muted">
        <Time at={atOf(row)} as="clock" />
      </span>
    ),
  };
}
