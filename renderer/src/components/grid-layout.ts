import type { ReactNode } from 'react';

export interface GridColumn<Row> {
  id: string;
  header: ReactNode;
  /** Pixels, or a share of what is left (at least `minWidth`, default 120 pixels). */
  width: number | { share: number; minWidth?: number };
  align?: 'start' | 'end';
  isMono?: boolean;
  /** Its content, if that is only a text or a number. */
  text?(row: Row): string | number | undefined;
  isMuted?: boolean;
  /** Returns the value to sort rows by; default: their text. A column with neither cannot be sorted. Times are ISO text. */
  sortBy?(row: Row): string | number | undefined;
  /** The order in which columns are hidden where there is too little space, the greatest first. Columns without it are never hidden. */
  hideOrder?: number;
  /** One line (default: its text). Buttons inside need `relative z-1` to be above the link of the row. */
  cell?(row: Row): ReactNode;
}

/** The columns as CSS grid wants them. */
export function columnTemplate(columns: readonly Pick<GridColumn<never>, 'width'>[]): string {
  return columns
    .map(({ width }) =>
      typeof width === 'number' ? `${width}px` : `minmax(${width.minWidth ?? 120}px, ${width.share}fr)`,
    )
    .join(' ');
}

/** Returns the index that a key moves to from a row (-1: none yet), or undefined if the key does not move. */
export function movedIndex(key: string, index: number, count: number, page: number): number | undefined {
  if (count === 0) return undefined;
  const within = (next: number) => Math.max(0, Math.min(count - 1, next));
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return within(index + 1);
    case 'ArrowUp':
    case 'k':
      return within(index < 0 ? 0 : index - 1);
    case 'PageDown':
      return within(Math.max(index, 0) + page);
    case 'PageUp':
      return within(Math.max(index, 0) - page);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}

/**
 * Returns the current index of the row that was at `index`, or undefined if it is gone. The search goes outwards from
 * there, because a list changes a little at a time.
 */
export function findNear<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  key: string,
  index: number,
): number | undefined {
  const from = Math.min(index, rows.length - 1);
  for (let distance = 0; distance < rows.length; distance += 1) {
    for (const at of distance === 0 ? [from] : [from + distance, from - distance]) {
      const row = rows[at];
      if (row !== undefined && keyOf(row) === key) return at;
    }
  }
  return undefined;
}

/** The columns there is space for. @param widthPx 0: not known yet, all of them */
export function fittingColumns<Column extends Pick<GridColumn<never>, 'width' | 'hideOrder'>>(
  columns: readonly Column[],
  widthPx: number,
): readonly Column[] {
  if (widthPx === 0) return columns;
  const leastPx = ({ width }: Column) => (typeof width === 'number' ? width : (width.minWidth ?? 120));
  let remainingColumns = columns;
  while (remainingColumns.reduce((sum, column) => sum + leastPx(column), 0) > widthPx) {
    const first = remainingColumns
      .filter(({ hideOrder }) => hideOrder !== undefined)
      .sort((column, other) => (other.hideOrder ?? 0) - (column.hideOrder ?? 0))[0];
    if (!first) return remainingColumns;
    remainingColumns = remainingColumns.filter((column) => column !== first);
  }
  return remainingColumns;
}

/** Sort order of a list, as in the address: `dur`, or `-dur` for descending. */
export interface Sorting {
  column: string;
  isDown: boolean;
}

export function parseSorting(text: string | undefined): Sorting | undefined {
  if (text === undefined || text === '' || text === '-') return undefined;
  return text.startsWith('-') ? { column: text.slice(1), isDown: true } : { column: text, isDown: false };
}

/** The next sort order after a click on a header: descending, ascending, then none. */
export function nextSorting(now: Sorting | undefined, column: string): string | undefined {
  if (now?.column !== column) return `-${column}`;
  return now.isDown ? column : undefined;
}

/** The rows in order; rows without a value come last, and equal ones keep their order. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly GridColumn<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sorting?.column);
  const sortBy = column?.sortBy ?? column?.text;
  if (!sorting || !sortBy) return rows;
  const sign = sorting.isDown ? -1 : 1;
  return rows.toSorted((row, otherRow) => {
    const [a, b] = [sortBy(row), sortBy(otherRow)];
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
    return sign * compared(a, b);
  });
}

/** Texts that are ISO times compare as texts; that is quick, and there are many of them. */
function compared(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
