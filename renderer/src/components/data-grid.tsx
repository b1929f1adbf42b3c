import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { hrefHere, hrefOf, useGo, useSearch, type WindowLocation } from '../url.ts';
import { ErrorState, NoMatch } from './empty-state.tsx';
import { GridHead } from './grid-head.tsx';
import {
  columnTemplate,
  fittingColumns,
  type GridColumn,
  movedIndex,
  parseSorting,
  sortedRows,
} from './grid-layout.ts';
import { Skeleton } from './skeleton.tsx';
import { useSteadyScroll } from './use-steady-scroll.ts';
import { useWidth } from './use-width.ts';

export type { GridColumn } from './grid-layout.ts';

export interface ListRows<Row> {
  rows: readonly Row[];
  isPending: boolean;
  error: unknown;
  refetch(): unknown;
  hasMore?: boolean;
  /** Reads it; another function: it can be called again. */
  loadMore?: (() => void) | undefined;
}

export interface DataGridProps<Row> {
  label: string;
  list: ListRows<Row>;
  columns: readonly GridColumn<Row>[];
  /** Columns that are not seen; one can be sorted by one of them all the same. */
  hidden?: readonly string[];
  keyOf(row: Row): string;
  /** The word of the address that says which row is selected. Default: `sel`. */
  searchParameter?: string;
  /** The key of the selected row, if another part of the address states it. */
  selectedKey?: string | undefined;
  /** A row was chosen with arrows or a click. Default: the address says so. */
  onSelect?(key: string, row: Row): void;
  /** Returns the location that a row's link leads to. Default: this page, with the row selected. */
  placeOf?(row: Row): WindowLocation;
  /** Enter or a double click. Default: goes to the place of the row, if it has one. */
  onOpen?(row: Row): void;
  /**
   * Called with the first and last row that are drawn now, including rows just outside the view. For lists whose rows
   * load piece by piece.
   */
  onDrawn?(first: number, last: number): void;
  /** The sort order while the address states none, e.g. `-time`; empty: as the rows come. If omitted, rows stay as they come. */
  order?: string;
  /** 28 to 32 pixels. Default 30. */
  rowHeight?: number;
  /** Words of the address that narrow the list: with one of them no rows means no match, and all can be taken back. */
  narrowedBy?: readonly string[];
  /** Are there any rows without filters? Default: it may be. */
  hasAny?: boolean;
  /** Shown when there are no rows and nothing narrows them: an EmptyState with the next action. */
  empty: ReactNode;
}

/** The distance from the last row, in rows, at which more rows are requested. */
const NEAR_END_ROWS = 100;
/** More at once are another list. */
const MAX_ARRIVED = 40;

/**
 * A table of any length: only what is seen is drawn. One stop for Tab; arrows, j/k, Home, End and the page keys move, Enter
 * opens. Rows that are added on top do not move what one reads, unless one is at the very top.
 */
export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, list, keyOf, placeOf, order, searchParameter = 'sel', rowHeight = 30 } = props;
  const go = useGo();
  const [search, change] = useSearch();
  const { selectedKey = search[searchParameter] } = props;
  const onOpen = props.onOpen ?? ((row: Row) => placeOf && go(placeOf(row)));
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [isFocused, setFocused] = useState(false);
  const widthPx = useWidth(scroller);
  const sort = order === undefined ? undefined : search.sort || order;
  const rows = useMemo(
    () => sortedRows(list.rows, props.columns, parseSorting(sort)),
    [list.rows, props.columns, sort],
  );
  const columns = useMemo(() => {
    const visibleColumns = props.hidden
      ? props.columns.filter((column) => !props.hidden?.includes(column.id))
      : props.columns;
    return fittingColumns(visibleColumns, widthPx);
  }, [props.columns, props.hidden, widthPx]);
  const template = useMemo(() => columnTemplate(columns), [columns]);
  const onSelect = props.onSelect ?? ((key: string) => change({ [searchParameter]: key }));
  const hrefTo = (row: Row) =>
    placeOf ? hrefOf(placeOf(row), search.scope) : hrefHere({ ...search, [searchParameter]: keyOf(row) });
  const selectedIndex = useMemo(
    () => (selectedKey === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selectedKey)),
    [rows, keyOf, selectedKey],
  );

  const arrived = useNewRowCount(rows, keyOf);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    // The header sticks to the top and hides a row.
    scrollPaddingStart: 32,
  });
  useSteadyScroll(scroller, rows, keyOf, rowHeight);

  // A selection that came from elsewhere, such as the address: show it, once; the first in the middle, because the list becomes lower when
  // the parts above it have loaded.
  const shownKey = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (selectedIndex < 0 || shownKey.current === selectedKey) return;
    virtual.scrollToIndex(selectedIndex, { align: shownKey.current === undefined ? 'center' : 'auto' });
    shownKey.current = selectedKey;
  }, [selectedIndex, selectedKey, virtual]);

  const { onDrawn } = props;
  const { loadMore } = list;
  const firstDrawn = virtual.getVirtualItems()[0]?.index ?? 0;
  const lastDrawn = virtual.getVirtualItems().at(-1)?.index ?? -1;
  useEffect(() => onDrawn?.(firstDrawn, lastDrawn), [firstDrawn, lastDrawn, onDrawn]);
  useEffect(() => {
    if (lastDrawn >= rows.length - NEAR_END_ROWS) loadMore?.();
  }, [lastDrawn, rows.length, loadMore]);

  const choose = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    shownKey.current = keyOf(row);
    virtual.scrollToIndex(index, { align: 'auto' });
    onSelect(keyOf(row), row);
  };
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
      if (row !== undefined) onOpen(row);
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
    // A link in a cell leads elsewhere.
    if (event.defaultPrevented) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    // Text of a row was selected, to be copied.
    if (getSelection()?.isCollapsed === false) return;
    body.current?.focus({ preventScroll: true });
    choose(index);
  };

  const isNarrowed =
    props.narrowedBy?.some((parameter) => search[parameter] !== undefined && search[parameter] !== '') === true;
  const instead =
    rows.length > 0 ? undefined : list.error ? (
      <ErrorState error={list.error} onRetry={() => void list.refetch()} />
    ) : list.isPending || list.hasMore ? (
      <Skeleton label={`Loading ${label}`} rows={12} />
    ) : isNarrowed && props.hasAny !== false ? (
      <NoMatch
        subject={label.toLowerCase()}
        onClear={() => change(Object.fromEntries(props.narrowedBy?.map((parameter) => [parameter, undefined]) ?? []))}
      />
    ) : (
      props.empty
    );
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
        aria-busy={list.isPending}
        aria-activedescendant={isSelectedDrawn ? rowId(selectedIndex) : undefined}
        tabIndex={0}
        className="group/grid min-w-fit outline-none"
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <GridHead
          columns={columns}
          template={template}
          sort={search.sort}
          onSort={order === undefined ? undefined : (next) => change({ sort: next })}
        />
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
                  className={`absolute inset-x-0 top-0 grid ${index < arrived ? 'arrive' : ''} items-center border-b border-line/55 ${
                    isSelected ? 'bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]' : 'hover:bg-raised'
                  } ${isSelected && isFocused ? 'outline-2 outline-offset-[-2px] outline-transparent group-focus-visible/grid:outline-focus' : ''}`}
                  style={{ gridTemplateColumns: template, height: rowHeight, transform: `translateY(${start}px)` }}
                  onClick={(event) => onRowClick(event, index)}
                  onDoubleClick={() => onOpen(row)}
                >
                  {columns.map((column, columnIndex) => (
                    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
                    <div
                      key={column.id}
                      role="gridcell"
                      // A text that is read from right to left keeps its beginning when it is cut.
                      dir="auto"
                      className={`truncate px-2 first:pl-3.5 ${column.align === 'end' ? 'text-right' : 'text-left'} ${column.isMono ? 'mono' : ''} ${column.isMuted ? 'text-muted' : ''}`}
                    >
                      {columnIndex === 0 ? (
                        <a href={hrefTo(row)} tabIndex={-1} draggable={false}>
                          {cellOf(column, row)}
                        </a>
                      ) : (
                        cellOf(column, row)
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

/** Returns the number of rows at the top that came since the list was last drawn. A new list, or one in another order, has none. */
function useNewRowCount<Row>(rows: readonly Row[], keyOf: (row: Row) => string): number {
  const before = useRef<{ rows: readonly Row[]; first: string | undefined; arrived: number } | undefined>(undefined);
  const { current } = before;
  if (current?.rows !== rows) {
    const at =
      current?.first === undefined ? 0 : rows.slice(0, MAX_ARRIVED).findIndex((row) => keyOf(row) === current.first);
    before.current = { rows, first: rows[0] && keyOf(rows[0]), arrived: Math.max(0, at) };
  }
  return before.current?.arrived ?? 0;
}

function cellOf<Row>(column: GridColumn<Row>, row: Row): ReactNode {
  return column.cell ? column.cell(row) : column.text?.(row);
}
