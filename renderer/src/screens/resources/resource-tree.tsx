import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { kindOfWord } from '../../api/resource-kinds.ts';
import { Badge } from '../../components/state.tsx';
import { keyInTree, type TreeRow } from './tree-rows.ts';

const ROW_HEIGHT = 26;

export interface ResourceTreeProps {
  rows: readonly TreeRow[];
  selectedId: string | undefined;
  onSelect(id: string): void;
  onToggle(key: string): void;
  onMore(key: string): void;
  /** A filter shows everything open; nothing can be closed then. */
  isFixed: boolean;
}

/**
 * The tree of any size: only the lines in sight are drawn. One stop for Tab; arrows move, right and left open and close, Enter
 * goes there.
 */
export function ResourceTree({ rows, selectedId, onSelect, onToggle, onMore, isFixed }: ResourceTreeProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState(selectedId);
  // A temporary row, such as `Loading`, is replaced in place by the row that follows.
  const lastIndex = useRef(0);
  const foundIndex = rows.findIndex(({ key }) => key === activeKey);
  const activeIndex = foundIndex >= 0 ? foundIndex : Math.min(lastIndex.current, rows.length - 1);
  useEffect(() => {
    lastIndex.current = activeIndex;
  }, [activeIndex]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
    paddingStart: 6,
    paddingEnd: 6,
  });

  // The selected resource is scrolled into view once its row is known; a filter can move the row.
  const revealedRow = useRef<string | undefined>(undefined);
  const showing = (key: string | undefined) => `${key} ${isFixed ? 'filtered' : 'in full'}`;
  const selectedIndex = rows.findIndex(({ key }) => key === selectedId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other dependencies cover what it shows
  useEffect(() => {
    if (selectedIndex < 0 || revealedRow.current === showing(selectedId)) return;
    revealedRow.current = showing(selectedId);
    setActiveKey(selectedId);
    virtual.scrollToIndex(selectedIndex, { align: 'auto' });
  }, [selectedIndex, selectedId, isFixed, virtual]);

  // The end of the loaded rows became visible.
  const items = virtual.getVirtualItems();
  const waiting = items
    .map(({ index }) => rows[index])
    .find((row) => row?.kind === 'more' && row.parentKey !== undefined);
  const waitingFor = waiting?.parentKey;
  const waitingText = waiting?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says how many are left: with each page it is another
  useEffect(() => {
    if (waitingFor !== undefined) onMore(waitingFor);
  }, [waitingFor, waitingText]);

  const act = (row: TreeRow | undefined) => {
    if (!row) return;
    revealedRow.current = showing(row.key);
    setActiveKey(row.key);
    if (row.node) onSelect(row.node.id);
    else if (row.isExpandable && !isFixed) onToggle(row.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      act(rows[activeIndex]);
      event.preventDefault();
      return;
    }
    const pageRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 300) / ROW_HEIGHT) - 1);
    const move = keyInTree(event.key, rows, activeIndex, pageRows);
    if (!move) return;
    event.preventDefault();
    if ('toggle' in move) {
      if (!isFixed) onToggle(move.toggle);
      return;
    }
    setActiveKey(rows[move.go]?.key);
    virtual.scrollToIndex(move.go, { align: 'auto' });
  };

  const rowId = (index: number) => `${id}-${index}`;
  const isActiveDrawn = items.some(({ index }) => index === activeIndex);
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto">
      <div
        role="tree"
        aria-label="Resources"
        tabIndex={0}
        aria-activedescendant={isActiveDrawn ? rowId(activeIndex) : undefined}
        className="group/tree relative min-h-full outline-none"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {items.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const isSelected = row.key === selectedId;
          return (
            // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the tree has the focus and takes the keys
            <div
              key={row.key}
              id={rowId(index)}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.siblings}
              aria-selected={isSelected}
              aria-expanded={row.isExpandable ? row.isExpanded : undefined}
              className={`absolute inset-x-1.5 top-0 flex cursor-default items-center gap-1.5 rounded-md pr-2 ${
                isSelected ? 'bg-accent-soft font-medium text-accent' : 'hover:bg-raised'
              } ${index === activeIndex ? 'outline-2 outline-offset-[-2px] outline-transparent group-focus-visible/tree:outline-focus' : ''}`}
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)`, paddingLeft: (row.level - 1) * 14 + 2 }}
              onClick={() => act(row)}
            >
              <Chevron row={row} onToggle={isFixed ? undefined : onToggle} />
              <Content row={row} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Chevron({ row, onToggle }: { row: TreeRow; onToggle: ((key: string) => void) | undefined }) {
  if (!row.isExpandable) return <span className="size-6 shrink-0" />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: with the keyboard right and left open and close the line
    <span
      className="flex size-6 shrink-0 items-center justify-center text-faint"
      onClick={(event) => {
        if (!onToggle) return;
        event.stopPropagation();
        onToggle(row.key);
      }}
    >
      <ChevronRight aria-hidden size={12} className={`transition-transform ${row.isExpanded ? 'rotate-90' : ''}`} />
    </span>
  );
}

function Content({ row: { kind, text, node, count } }: { row: TreeRow }) {
  if (kind === 'more' || kind === 'loading') return <span className="truncate text-faint">{text}</span>;
  if (!node) {
    return (
      <>
        <span className="truncate">{text}</span>
        <Count count={count} />
      </>
    );
  }
  const { icon: Icon, title } = kindOfWord(node.word);
  const kindOfEnvironment = node.environment_type === node.name ? undefined : node.environment_type;
  return (
    <>
      <Icon aria-hidden size={14} strokeWidth={1.7} className="shrink-0 opacity-70" />
      <span className={`truncate ${kindOfEnvironment ? 'min-w-14' : ''}`}>{text}</span>
      <span className="sr-only">{title}</span>
      {kindOfEnvironment && (
        <span className="min-w-0 overflow-hidden">
          <Badge>{kindOfEnvironment}</Badge>
        </span>
      )}
      {node.word === 'apis' && <Badge>API</Badge>}
      {node.isDisabled && <Badge tone="warning">disabled</Badge>}
      <Count count={count} />
    </>
  );
}

function Count({ count }: { count: number | undefined }) {
  if (count === undefined) return null;
  return <span className="ml-auto pl-2 text-small font-normal text-faint">{count.toLocaleString('en')}</span>;
}
