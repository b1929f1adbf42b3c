import type { ReactNode } from 'react';

export interface GridColumn<Row> {
  id: string;
  header: ReactNode;
  /** Pixels, or a share of what is left (at least `minWidth`, default 120 pixels). */
  width: number | { share: number; minWidth?: number };
  align?: 'start' | 'end';
  isMono?: boolean;
  /** One line of text. What can be pressed inside needs `relative z-1` to lie above the link of the row. */
  cell(row: Row): ReactNode;
}

/** The columns as CSS grid wants them. */
export function columnTemplate(columns: readonly Pick<GridColumn<never>, 'width'>[]): string {
  return columns
    .map(({ width }) =>
      typeof width === 'number' ? `${width}px` : `minmax(${width.minWidth ?? 120}px, ${width.share}fr)`,
    )
    .join(' ');
}

/** Where a key leads from a row (-1: none yet); undefined when the key is not one that moves. */
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
 * Where the row that was at `index` is now: searched for outwards from there, because a list changes a little at a time.
 * Undefined when it is gone.
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
