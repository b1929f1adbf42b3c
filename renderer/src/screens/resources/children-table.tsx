import { keepPreviousData, type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { kindOfWord, typeWords } from '../../api/resource-kinds.ts';
import { childrenPage, TREE_PAGE_ROWS, type TreeNode, type TreePage, type TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { DataGrid, type GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { State } from '../../components/state.tsx';
import { useSearch } from '../../url.ts';
import { addressesOf } from '../containers/container-address.ts';
import { AddressLink, ContainerState } from '../containers/container-columns.tsx';
import { NewMenu } from './new-menu.tsx';

/** A row that may not be read yet: then it only knows its place. */
interface Row {
  key: string;
  node?: TreeNode;
  facts?: LiveFacts | undefined;
}

/** The interval at which rows that become visible are requested. While the user scrolls, rows that are no longer visible are skipped. */
const ASK_EVERY_MS = 100;

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 140 },
    cell: ({ node }) =>
      node ? <span className="font-medium">{node.name}</span> : <span className="text-faint">…</span>,
  },
  {
    id: 'kind',
    hideOrder: 1,
    header: 'Type',
    width: 120,
    isMuted: true,
    text: ({ node }) => node && kindOfWord(node.word).title,
  },
  {
    id: 'state',
    header: 'State',
    width: 112,
    hideOrder: 2,
    cell: ({ node, facts }) =>
      typeof facts?.record.properties.status === 'string' ? (
        <ContainerState record={facts.record} />
      ) : (
        node?.isDisabled && <State is="idle">disabled</State>
      ),
  },
  {
    id: 'address',
    header: 'Address',
    width: { share: 2, minWidth: 130 },
    hideOrder: 3,
    cell: ({ facts }) =>
      facts?.address && <AddressLink address={{ ...facts.address, kind: 'endpoint', name: facts.record.name }} />,
  },
  {
    id: 'about',
    hideOrder: 4,
    header: 'Description',
    width: { share: 3, minWidth: 120 },
    isMuted: true,
    text: ({ node }) => node?.description,
  },
  {
    id: 'inside',
    hideOrder: 5,
    header: 'Inside',
    width: 72,
    align: 'end',
    cell: ({ node }) => (
      <span className="text-faint">{node && node.children > 0 ? node.children.toLocaleString('en') : ''}</span>
    ),
  },
  {
    id: 'changed',
    hideOrder: 6,
    header: 'Changed',
    width: 104,
    align: 'end',
    isMuted: true,
    cell: ({ node }) => node && <Time at={node.modified} />,
  },
];
/** The columns are left out where no child has a state or an address. */
const PLAIN_COLUMNS = COLUMNS.filter(({ id }) => id !== 'state' && id !== 'address');
const keyOf = ({ key }: Row) => key;

/** The children of a resource. Only visible rows are read. Enter opens a row. */
export function ChildrenTable({ location }: { location: TreePlace }) {
  const { id } = location.resource;
  const [{ sel }, change] = useSearch();
  const [requestedPages, setRequestedPages] = useState<ReadonlySet<number>>(() => new Set([0]));
  const numbers = useMemo(() => [...requestedPages].sort((a, b) => a - b), [requestedPages]);
  const { pages, isPending, error, refetch } = useQueries({
    queries: numbers.map((page) => ({ ...childrenPage(id, typeWords, page), placeholderData: keepPreviousData })),
    combine,
  });
  const total = pages[0]?.total ?? location.resource.children;
  const drawn = useRef({ first: 0, last: 0 });
  const asking = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(asking.current), []);
  const onDrawn = useCallback((first: number, last: number) => {
    drawn.current = { first, last };
    asking.current ??= setTimeout(() => {
      asking.current = undefined;
      const visibleRows = [drawn.current.first, drawn.current.last].map((index) =>
        Math.floor(Math.max(0, index) / TREE_PAGE_ROWS),
      );
      setRequestedPages((before) =>
        visibleRows.every((page) => before.has(page)) ? before : new Set([...before, ...visibleRows]),
      );
    }, ASK_EVERY_MS);
  }, []);
  const facts = useLiveFacts(location);
  // Each page updates only its own rows, because there may be thousands.
  const unread = useMemo(() => Array.from({ length: total }, (_, index): Row => ({ key: `row ${index}` })), [total]);
  const rows = useMemo(() => {
    const all = unread.slice();
    numbers.forEach((number, index) => {
      pages[index]?.rows.forEach((node, at) => {
        const rowIndex = number * TREE_PAGE_ROWS + at;
        if (rowIndex < all.length) all[rowIndex] = { key: node.id, node, facts: facts.get(node.id) };
      });
    });
    return all;
  }, [unread, numbers, pages, facts]);
  // The user selected a row before it was read, for example with End: its id goes into the address once it is known.
  const reached = sel === undefined ? undefined : rows[Number(/^row (\d+)$/.exec(sel)?.[1] ?? -1)]?.node?.id;
  useEffect(() => {
    if (reached !== undefined) change({ sel: reached });
  }, [reached, change]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <DataGrid
        label="Inside"
        list={{ rows, isPending, error, refetch }}
        columns={facts.size > 0 ? COLUMNS : PLAIN_COLUMNS}
        keyOf={keyOf}
        selectedKey={reached ?? sel}
        onDrawn={onDrawn}
        placeOf={({ node }) => ({ screen: 'resources', id: node?.id ?? id })}
        empty={
          <EmptyState title="No child resources yet" text="Resources that you create here appear in this list.">
            <NewMenu location={location} />
          </EmptyState>
        }
      />
    </div>
  );
}

/** Combines the pages. It is a constant function, so that equal responses give the same object. */
function combine(answers: readonly UseQueryResult<TreePage>[]) {
  return {
    pages: answers.map(({ data }) => data),
    isPending: answers[0]?.isPending ?? true,
    error: answers[0]?.error,
    refetch: () => void answers[0]?.refetch(),
  };
}

/** The state of a row in the tree that its record does not contain: the current record and its public address. */
interface LiveFacts {
  record: PlatformRecord;
  address: { text: string; href: string } | undefined;
}

/** Types whose records have a state or an address. */
const LIVE = ['containers', 'jobs', 'apiendpoints'] as const;
/** Maximum number of resources in the tree for which live facts are read. */
const MAX_READ = 500;

/** Returns the live facts of the containers, jobs and endpoints directly inside a location, by id. */
function useLiveFacts({ resource, types }: TreePlace): ReadonlyMap<string, LiveFacts> {
  const collections = LIVE.filter((collection) => isIn(types[collection]));
  return useQueries({
    queries: collections.map((collection) => ({
      queryKey: [keys.world, 'live', collection, resource.fqon],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        load<PlatformRecord[]>(`/meta/${resource.fqon}/${collection}`, { expand: true }, signal),
    })),
    combine: combineRecords,
  });
}

function isIn(count: number | undefined): boolean {
  return count !== undefined && count > 0 && count <= MAX_READ;
}

function combineRecords(answers: readonly UseQueryResult<PlatformRecord[]>[]): ReadonlyMap<string, LiveFacts> {
  const records = answers.flatMap(({ data }) => data ?? []);
  return new Map(records.map((record) => [record.id, { record, address: addressOf(record) }]));
}

function addressOf(record: PlatformRecord): LiveFacts['address'] {
  const { public_url: url } = record.properties;
  if (typeof url === 'string' && URL.canParse(url)) return { text: new URL(url).pathname, href: url };
  return addressesOf(record, [], location.hostname)[0];
}
