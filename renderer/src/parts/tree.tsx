import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { Tree as AriaTree, Button, TreeItem, TreeItemContent } from 'react-aria-components';

export interface TreeNode {
  id: string;
  /** For those who listen and for finding by typing. */
  text: string;
  icon?: ReactNode;
  /** After the text: a type, a state. */
  badge?: ReactNode;
  /** At the end. */
  count?: number | undefined;
  children?: readonly TreeNode[];
}

export interface TreeProps {
  label: string;
  nodes: readonly TreeNode[];
  selectedId: string | undefined;
  onSelect(id: string): void;
  expandedIds: ReadonlySet<string>;
  onExpandedChange(ids: ReadonlySet<string>): void;
}

/** A tree with one selected node: arrows move, right and left open and close, typing finds. */
export function Tree({ label, nodes, selectedId, onSelect, expandedIds, onExpandedChange }: TreeProps) {
  return (
    <AriaTree
      aria-label={label}
      selectionMode="single"
      selectionBehavior="replace"
      disallowEmptySelection
      selectedKeys={selectedId === undefined ? [] : [selectedId]}
      onSelectionChange={(keys) => {
        if (keys === 'all') return;
        const [key] = keys;
        if (key !== undefined) onSelect(String(key));
      }}
      expandedKeys={expandedIds}
      onExpandedChange={(keys) => onExpandedChange(new Set([...keys].map(String)))}
      className="min-h-0 flex-1 overflow-auto p-1.5 outline-none"
    >
      {nodes.map((node) => item(node))}
    </AriaTree>
  );
}

function item({ id, text, icon, badge, count, children }: TreeNode): ReactNode {
  return (
    <TreeItem
      key={id}
      id={id}
      textValue={text}
      className="group cursor-default rounded-md outline-offset-[-2px] data-[hovered]:bg-raised data-[selected]:bg-accent-soft data-[selected]:font-medium data-[selected]:text-accent"
    >
      <TreeItemContent>
        {({ level, hasChildItems, isExpanded }) => (
          <div className="flex h-[26px] items-center gap-1.5 pr-2" style={{ paddingLeft: (level - 1) * 14 + 2 }}>
            {hasChildItems ? (
              <Button slot="chevron" className="flex size-5 shrink-0 items-center justify-center text-faint">
                <ChevronRight
                  aria-hidden
                  size={12}
                  className={`transition-transform ${isExpanded ? 'rotate-90' : ''}`}
                />
              </Button>
            ) : (
              <span className="size-5 shrink-0" />
            )}
            {icon}
            <span className="truncate">{text}</span>
            {badge}
            {count !== undefined && <span className="ml-auto pl-2 text-[11px] font-normal text-faint">{count}</span>}
          </div>
        )}
      </TreeItemContent>
      {children?.map((child) => item(child))}
    </TreeItem>
  );
}
