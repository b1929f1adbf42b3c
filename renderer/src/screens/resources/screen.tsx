import { useQuery } from '@tanstack/react-query';
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { searchOptions, usePlace } from '../../api/tree.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { useScope } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorState } from '../../components/empty-state.tsx';
import { FilterField } from '../../components/fields.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { SplitPane } from '../../components/split-pane.tsx';
import { useKeys } from '../../keys/use-keys.ts';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useGo, usePlaceId, useSearch } from '../../url.ts';
import { ColleagueDialog } from './colleague-dialog.tsx';
import { CreateDialog } from './create-dialog.tsx';
import { NewMenu } from './new-menu.tsx';
import { ResourcePane } from './resource-pane.tsx';
import { ResourceTree } from './resource-tree.tsx';
import { useTree } from './use-tree.ts';

export default function ResourcesScreen() {
  const [{ q = '', new: created }, change] = useSearch();
  const { scope } = useScope();
  const navigate = useGo();
  const frame = useRef<HTMLDivElement>(null);
  const total = usePlatformStatus().data?.store.resources;
  // Users without permission to view organizations start with the resources that they may view.
  const topLevel = useQuery({ ...searchOptions({ tops: true }), enabled: scope.id === undefined });
  const scopeLocation = usePlace(scope.id);
  const scopeNode = scopeLocation.data?.resource;
  const roots = useMemo(
    () => (scope.id === undefined ? topLevel.data?.rows : scopeNode && [scopeNode]),
    [scope.id, topLevel.data, scopeNode],
  );
  const rootQuery = scope.id === undefined ? topLevel : scopeLocation;
  const openId = usePlaceId();
  const selectedId = openId ?? roots?.[0]?.id;
  const selected = usePlace(selectedId);
  // Typed text is shown at once; the address follows.
  const [text, setText] = useState(q);
  const filter = useDeferredValue(q);
  const tree = useTree({ roots, scope: scope.id, selectedId, filter });

  const filterBy = (next: string) => {
    setText(next);
    change({ q: next === '' ? undefined : next });
  };
  const select = useCallback(
    (id: string) => navigate({ screen: 'resources', id, search: q === '' ? {} : { q } }),
    [navigate, q],
  );
  useKeys([
    {
      keys: '/',
      does: 'Filter the tree',
      run: () => frame.current?.querySelector('input')?.focus(),
    },
  ]);

  const isFiltered = filter.trim() !== '';
  const list = (
    <>
      <div ref={frame} className="flex items-center gap-1.5 border-b border-line p-2">
        <FilterField
          label="Filter the tree"
          value={text}
          onChange={filterBy}
          placeholder="Name, type or id"
          className="min-w-0 flex-1"
        />
        {selected.data && <NewMenu location={selected.data} />}
      </div>
      {rootQuery.error || tree.error ? (
        <ErrorState
          error={rootQuery.error ?? tree.error}
          onRetry={() => {
            void rootQuery.refetch();
            tree.refetch();
          }}
        />
      ) : tree.rows.length > 0 ? (
        <ResourceTree
          rows={tree.rows}
          selectedId={selectedId}
          onSelect={select}
          onToggle={tree.toggle}
          onMore={tree.readMore}
          isFixed={isFiltered}
        />
      ) : tree.isLoading ? (
        <Skeleton label="Loading the tree" />
      ) : !isFiltered ? (
        <EmptyState
          title="You don't have access to any resources yet"
          text="Ask root or an owner to give you a role in a workspace."
        />
      ) : (
        <EmptyState title="No match" text="No resource has that name.">
          <Button onPress={() => filterBy('')}>Clear the filter</Button>
        </EmptyState>
      )}
    </>
  );
  return (
    <ScreenFrame
      title="Resources"
      bar={total !== undefined && <span className="text-muted">{total.toLocaleString('en')} in all</span>}
    >
      <SplitPane
        name="resources"
        fixed="list"
        width={300}
        list={list}
        detailLabel="Resource"
        detail={
          selectedId === undefined ? (
            roots ? undefined : (
              <Skeleton />
            )
          ) : (
            <ResourcePane key={selectedId} id={selectedId} />
          )
        }
      />
      {created === 'colleague' && selected.data && (
        <ColleagueDialog at={selected.data.resource} onClose={() => change({ new: undefined })} />
      )}
      {created !== undefined && (selected.data !== undefined || selectedId === undefined || selected.isError) && (
        <CreateDialog key={created} collection={created} location={selected.data ?? undefined} />
      )}
    </ScreenFrame>
  );
}
