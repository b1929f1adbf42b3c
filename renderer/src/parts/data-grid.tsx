import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { ErrorState, NoMatch } from './empty-state.tsx';
import { GridHead } from './grid-head.tsx';
import { columnTemplate, fittingColumns, type GridColumn, movedIndex } from './grid-layout.ts';
import { Skeleton } from './skeleton.tsx';
import { useSteadyScroll } from './steady-scroll.ts';
import { useWidth } from './width.ts';

export type { GridColumn } from './grid-layout.ts';

export interface DataGridProps<Row> {
  /** What the rows are, e.g. `Invocations`. */
  label: string;
  /** In the order of display. */
  rows: readonly Row[];
  columns: readonly GridColumn<Row>[];
  keyOf(row: Row): string;
  /** Keep it in the address: `search.sel`. */
  selectedKey: string | undefined;
  /** A row was chosen with arrows or a click. */
  onSelect(key: string, row: Row): void;
  /** Enter or a double click. Default: nothing more than the selection. */
  onOpen?(row: Row): void;
  /** The address of a row: it can then be opened in a new tab and copied. */
  hrefOf?(row: Row): string;
  /** One has come near the last row, or there are too few to fill the view. Another function: it can be called again. */
  onNearEnd?: (() => void) | undefined;
  /** Which rows are drawn now, those just outside of the view included: for lists whose rows come piece by piece. */
  onDrawn?: ((first: number, last: number) => void) | undefined;
  /** What the rows are sorted by (`parseSorting`), and what a press on a header makes of it; without it no header can be pressed. */
  sort?: string | undefined;
  onSort?(sort: string | undefined): void;
  /** 28 to 32 pixels. Default 30. */
  rowHeight?: number;
  /** What is there while there are no rows. */
  isLoading?: boolean;
  error?: unknown;
  onRetry?(): void;
  /** Is a query or filter on? Then no rows means no match. */
  isFiltered?: boolean;
  onClearFilter?(): void;
  /** Shown when there are no rows and no filter: an EmptyState with the next action. */
  empty: ReactNode;
}

/** So many rows before the last one, more are asked for. */
const NEAR_END_ROWS = 100;

/**
 * A table of any length: only what is seen is drawn. One stop for Tab; arrows, j/k, Home, End and the page keys move, Enter
 * opens. Rows that are added on top do not move what one reads, unless one is at the very top.
 */
export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, rows, keyOf, selectedKey, onSelect, onOpen, hrefOf, rowHeight = 30 } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [isFocused, setFocused] = useState(false);
  const widthPx = useWidth(scroller);
  const columns = useMemo(() => fittingColumns(props.columns, widthPx), [props.columns, widthPx]);
  const template = useMemo(() => columnTemplate(columns), [columns]);
  const selectedIndex = useMemo(
    () => (selectedKey === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selectedKey)),
    [rows, keyOf, selectedKey],
  );

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    // The header sticks to the top and hides a row.
    scrollPaddingStart: 32,
    paddingStart: 0,
  });
  useSteadyScroll(scroller, rows, keyOf, rowHeight);

  // A selection that came from elsewhere, such as the address: show it, once.
  const shownKey = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (selectedIndex < 0 || shownKey.current === selectedKey) return;
    shownKey.current = selectedKey;
    virtual.scrollToIndex(selectedIndex, { align: 'auto' });
  }, [selectedIndex, selectedKey, virtual]);

  const { onNearEnd, onDrawn } = props;
  const firstDrawn = virtual.getVirtualItems()[0]?.index ?? 0;
  const lastDrawn = virtual.getVirtualItems().at(-1)?.index ?? -1;
  useEffect(() => onDrawn?.(firstDrawn, lastDrawn), [firstDrawn, lastDrawn, onDrawn]);
  useEffect(() => {
    if (lastDrawn >= rows.length - NEAR_END_ROWS) onNearEnd?.();
  }, [lastDrawn, rows.length, onNearEnd]);

  const choose = useCallback(
    (index: number) => {
      const row = rows[index];
      if (row === undefined) return;
      shownKey.current = keyOf(row);
      virtual.scrollToIndex(index, { align: 'auto' });
      onSelect(keyOf(row), row);
    },
    [rows, keyOf, onSelect, virtual],
  );
  const step = (key: string) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 300) / rowHeight) - 2);
    const next = movedIndex(key, selectedIndex, rows.length, page);
    if (next !== undefined) choose(next);
    return next !== undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== body.current || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') {
      const row = rows[selectedIndex];
      if (row !== undefined) onOpen?.(row);
      event.preventDefault();
    } else if (step(event.key)) event.preventDefault();
  };
  const moveFromAnywhere = (key: string) => {
    body.current?.focus({ preventScroll: true });
    step(key);
  };
  useKeys([
    { keys: 'j', does: 'Next row', group: 'Lists', run: () => moveFromAnywhere('ArrowDown') },
    { keys: 'k', does: 'Previous row', group: 'Lists', run: () => moveFromAnywhere('ArrowUp') },
  ]);
  const onRowClick = (event: MouseEvent, index: number) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    body.current?.focus({ preventScroll: true });
    choose(index);
  };

  const instead = insteadOfRows(props);
  const rowId = (index: number) => `${id}-row-${index}`;
  const isSelectedDrawn = virtual.getVirtualItems().some(({ index }) => index === selectedIndex);
  return (
    <div ref={scroller} className="relative min-h-0 flex-1 overflow-auto">
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot be drawn in part */}
      <div
        ref={body}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-busy={props.isLoading === true}
        aria-activedescendant={isSelectedDrawn ? rowId(selectedIndex) : undefined}
        tabIndex={0}
        className="group/grid min-w-fit outline-none"
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <GridHead columns={columns} template={template} sort={props.sort} onSort={props.onSort} />
        {instead === undefined && (
          <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows[index];
              if (row === undefined) return null;
              const isSelected = index === selectedIndex;
              return (
                // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the grid has the focus and takes the keys
                <div
                  key={keyOf(row)}
                  id={rowId(index)}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={isSelected}
                  className={`absolute inset-x-0 top-0 grid items-center border-b border-line/55 ${
                    isSelected ? 'bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]' : 'hover:bg-raised'
                  } ${isSelected && isFocused ? 'outline-2 outline-offset-[-2px] outline-transparent group-focus-visible/grid:outline-focus' : ''}`}
                  style={{ gridTemplateColumns: template, height: rowHeight, transform: `translateY(${start}px)` }}
                  onClick={(event) => onRowClick(event, index)}
                  onDoubleClick={() => onOpen?.(row)}
                >
                  {columns.map((column, columnIndex) => (
                    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
                    <div
                      key={column.id}
                      role="gridcell"
                      className={`truncate px-2 first:pl-3.5 ${column.align === 'end' ? 'text-right' : ''} ${column.isMono ? 'mono' : ''}`}
                    >
                      {hrefOf && columnIndex === 0 ? (
                        <a href={hrefOf(row)} tabIndex={-1} className="after:absolute after:inset-0">
                          {column.cell(row)}
                        </a>
                      ) : (
                        column.cell(row)
                      )}
                    </div>
                  ))}
                </div>
              );
            })}
          </div>
        )}
      </div>
      {instead}
    </div>
  );
}

/** What stands where the rows would be, when there are none. */
function insteadOfRows<Row>(props: DataGridProps<Row>): ReactNode | undefined {
  if (props.rows.length > 0) return undefined;
  if (props.error) return <ErrorState error={props.error} {...(props.onRetry && { onRetry: props.onRetry })} />;
  if (props.isLoading) return <Skeleton label={`Loading ${props.label}`} rows={12} />;
  if (props.isFiltered) return <NoMatch what={props.label.toLowerCase()} onClear={() => props.onClearFilter?.()} />;
  return props.empty;
}
