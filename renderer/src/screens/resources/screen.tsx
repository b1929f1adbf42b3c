import { useCallback, useDeferredValue, useRef, useState } from 'react';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { usePlace } from '../../api/tree.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useGo, usePlaceId, useSearch } from '../../url.ts';
import { CreateDialog } from './create-dialog.tsx';
import { NewMenu } from './new-menu.tsx';
import { ResourcePane } from './resource-pane.tsx';
import { ResourceTree } from './resource-tree.tsx';
import { useTree } from './use-tree.ts';

/** The hierarchy as a tree, and the selected resource beside it. */
export default function ResourcesScreen() {
  const [{ q = '', new: created }, change] = useSearch();
  const { scope } = useScope();
  const go = useGo();
  const frame = useRef<HTMLDivElement>(null);
  const total = usePlatformStatus().data?.store.resources;
  const root = useWorld<PlatformRecord>('/root').data;
  const rootPlace = usePlace(scope.id ?? root?.id);
  const rootNode = rootPlace.data?.resource;
  const placeId = usePlaceId();
  const selectedId = placeId ?? rootNode?.id;
  const selected = usePlace(selectedId);
  // What one types is shown at once; the address follows.
  const [text, setText] = useState(q);
  const filter = useDeferredValue(q);
  const tree = useTree(rootNode, selectedId, filter);

  const filterBy = (next: string) => {
    setText(next);
    change({ q: next === '' ? undefined : next });
  };
  const select = useCallback((id: string) => go({ screen: 'resources', id, search: q === '' ? {} : { q } }), [go, q]);
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
        {selected.data && <NewMenu place={selected.data} />}
      </div>
      {rootPlace.error || tree.error ? (
        <ErrorState
          error={rootPlace.error ?? tree.error}
          onRetry={() => {
            void rootPlace.refetch();
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
      ) : (
        <EmptyState title="No match" text="No resource is called that.">
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
        detail={selectedId === undefined ? <Skeleton /> : <ResourcePane key={selectedId} id={selectedId} />}
      />
      {created !== undefined && (selected.data !== undefined || selectedId === undefined || selected.isError) && (
        <CreateDialog key={created} word={created} place={selected.data ?? undefined} />
      )}
    </ScreenFrame>
  );
}
