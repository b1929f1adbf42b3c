import { ArrowDown, ArrowUp } from 'lucide-react';
import { type GridColumn, nextSorting, parseSorting } from './grid-layout.ts';

export interface GridHeadProps<Row> {
  columns: readonly GridColumn<Row>[];
  /** The columns as CSS grid wants them. */
  template: string;
  sort: string | undefined;
  onSort: ((sort: string | undefined) => void) | undefined;
}

/** The row of headers; those that one can sort by are buttons. */
export function GridHead<Row>({ columns, template, sort, onSort }: GridHeadProps<Row>) {
  const sorting = parseSorting(sort);
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: the grid has the focus and points at its rows
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-10 grid h-7 items-center border-b border-line bg-bg text-small text-faint"
      style={{ gridTemplateColumns: template }}
    >
      {columns.map(({ id, header, align, text, sortBy = text }) => {
        const isSorted = sorting?.column === id;
        const Arrow = sorting?.isDown ? ArrowDown : ArrowUp;
        return (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
          <div
            key={id}
            role="columnheader"
            {...(isSorted && { 'aria-sort': sorting.isDown ? 'descending' : 'ascending' })}
            className={`truncate px-2 first:pl-3.5 ${align === 'end' ? 'text-right' : ''}`}
          >
            {sortBy && onSort ? (
              <button
                type="button"
                className={`inline-flex h-6 max-w-full items-center gap-0.5 hover:text-text ${isSorted ? 'font-medium text-text' : ''}`}
                onClick={() => onSort(nextSorting(sorting, id))}
              >
                <span className="truncate">{header}</span>
                {isSorted && <Arrow aria-hidden size={12} className="shrink-0" />}
              </button>
            ) : (
              header
            )}
          </div>
        );
      })}
    </div>
  );
}
