import { keepPreviousData, type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { typeWords } from '../../../../server/model/type-words.ts';
import { kindOfWord } from '../../api/resource-kinds.ts';
import { childrenPage, TREE_PAGE_ROWS, type TreeNode, type TreePage, type TreePlace } from '../../api/tree.ts';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { hrefOf, useGo, useSearch } from '../../url.ts';
import { NewMenu } from './new-menu.tsx';

/** A row that may not be read yet: then it only knows its place, and asks to be read when it is drawn. */
interface Row {
  key: string;
  node?: TreeNode;
  ask(): void;
}

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 140 },
    cell: ({ node, ask }) => (node ? <span className="font-medium">{node.name}</span> : <NotYet ask={ask} />),
  },
  {
    id: 'kind',
    header: 'Type',
    width: 120,
    cell: ({ node }) => <span className="text-muted">{node && kindOfWord(node.word).title}</span>,
  },
  {
    id: 'about',
    header: 'Description',
    width: { share: 3, minWidth: 120 },
    cell: ({ node }) => <span className="text-muted">{node?.description}</span>,
  },
  {
    id: 'inside',
    header: 'Inside',
    width: 72,
    align: 'end',
    cell: ({ node }) => (
      <span className="text-faint">{node && node.children > 0 ? node.children.toLocaleString('en') : ''}</span>
    ),
  },
  {
    id: 'changed',
    header: 'Changed',
    width: 104,
    align: 'end',
    cell: ({ node }) => <span className="text-muted">{node && <Time at={node.modified} />}</span>,
  },
];
const keyOf = ({ key }: Row) => key;

/** What is directly inside a place; also of a place with 100,000 things in it only what one looks at is read. Enter goes there. */
export function ChildrenTable({ place }: { place: TreePlace }) {
  const { id } = place.resource;
  const [{ sel, scope }, change] = useSearch();
  const go = useGo();
  const [asked, setAsked] = useState<ReadonlySet<number>>(() => new Set([0]));
  const numbers = useMemo(() => [...asked].sort((one, other) => one - other), [asked]);
  const { pages, isPending, error, refetch } = useQueries({
    queries: numbers.map((page) => ({ ...childrenPage(id, typeWords, page), placeholderData: keepPreviousData })),
    combine,
  });
  const total = pages[0]?.total ?? place.resource.children;
  const ask = useCallback(
    (page: number) => setAsked((before) => (before.has(page) ? before : new Set([...before, page]))),
    [],
  );
  const rows = useMemo(() => {
    const byNumber = new Map(numbers.map((number, index) => [number, pages[index]?.rows]));
    return Array.from({ length: total }, (_, index): Row => {
      const page = Math.floor(index / TREE_PAGE_ROWS);
      const node = byNumber.get(page)?.[index % TREE_PAGE_ROWS];
      return node ? { key: node.id, node, ask: nothing } : { key: `row ${index}`, ask: () => ask(page) };
    });
  }, [total, numbers, ask, pages]);
  const select = useCallback((key: string) => change({ sel: key }), [change]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <DataGrid
        label="Inside"
        rows={rows}
        columns={COLUMNS}
        keyOf={keyOf}
        selectedKey={sel}
        onSelect={select}
        onOpen={({ node }) => node && go({ screen: 'resources', id: node.id })}
        hrefOf={({ node }) => hrefOf({ screen: 'resources', id: node?.id ?? id }, scope)}
        isLoading={isPending}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState title="Nothing inside yet" text="What is created in this place shows up here.">
            <NewMenu place={place} />
          </EmptyState>
        }
      />
    </div>
  );
}

/** What the pages are together; the same function each time, so that the same answers are the same object. */
function combine(answers: readonly UseQueryResult<TreePage>[]) {
  return {
    pages: answers.map(({ data }) => data),
    isPending: answers[0]?.isPending ?? true,
    error: answers[0]?.error,
    refetch: () => void answers[0]?.refetch(),
  };
}

function nothing(): void {
  // It is read already.
}

function NotYet({ ask }: { ask(): void }) {
  useEffect(ask);
  return <span className="text-faint">…</span>;
}
