import { useCallback, useMemo, useState } from 'react';
import { useScope } from '../../api/world.ts';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { Tree } from '../../parts/tree.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useGo, usePlaceId } from '../../url.ts';
import { ResourceDetail } from './resource-detail.tsx';
import { ancestorsOf, isGroupId, treeOf } from './resource-tree.tsx';
import { useAllRecords } from './use-all-records.ts';

/** The hierarchy as a tree, and the selected resource beside it. */
export default function ResourcesScreen() {
  const { records, isLoading, error, refetch } = useAllRecords();
  const { scope } = useScope();
  const go = useGo();
  const [filter, setFilter] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<string>>();

  const placeId = usePlaceId();
  const byId = useMemo(() => new Map(records.map((record) => [record.id, record])), [records]);
  const root = scope.id ?? records.find(({ properties }) => properties.fqon === 'root')?.id ?? records[0]?.id;
  const selectedId = placeId ?? root;
  const { nodes, matchedParents } = useMemo(() => treeOf(records, root, filter), [records, root, filter]);

  // At first the way to the selection is open, and the organizations; a filter opens what leads to its matches.
  const initial = useMemo(() => {
    const orgs = records.filter(({ resource_type }) => /Organization|Workspace/.test(resource_type));
    return new Set([...orgs.map(({ id }) => id), ...ancestorsOf(byId, selectedId)]);
  }, [records, byId, selectedId]);
  const expanded = filter === '' ? (opened ?? initial) : matchedParents;
  const select = useCallback((id: string) => (isGroupId(id) ? undefined : go({ screen: 'resources', id })), [go]);

  const selected = selectedId === undefined ? undefined : byId.get(selectedId);
  const tree = (
    <>
      <div className="border-b border-line p-2">
        <FilterField label="Filter the tree" value={filter} onChange={setFilter} placeholder="Filter by name or type" />
      </div>
      {error && records.length === 0 ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : isLoading && records.length === 0 ? (
        <Skeleton label="Loading the tree" />
      ) : nodes.length === 0 ? (
        <EmptyState title="No match" text="No resource is called that." />
      ) : (
        <Tree
          label="Resources"
          nodes={nodes}
          selectedId={selectedId}
          onSelect={select}
          expandedIds={expanded}
          onExpandedChange={setOpened}
        />
      )}
    </>
  );
  return (
    <ScreenFrame
      title="Resources"
      bar={<span className="text-muted">{records.length.toLocaleString('en')} in all</span>}
    >
      <SplitPane
        name="resources"
        fixed="list"
        width={300}
        list={tree}
        detailLabel="Resource"
        detail={
          selected ? (
            <ResourceDetail key={selected.id} record={selected} records={records} />
          ) : isLoading || placeId === undefined ? (
            <Skeleton />
          ) : (
            <EmptyState
              title="This resource is not there"
              text="It was deleted, or it is in a place that you may not see."
            >
              <span className="mono text-faint">{placeId}</span>
            </EmptyState>
          )
        }
      />
    </ScreenFrame>
  );
}
