import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { kindOf, parentIdOf, recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Badge } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { ChildrenTable } from './children-table.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditorTabs } from './editor-tabs.tsx';
import { HistoryTab } from './history-tab.tsx';
import { RelationsTab } from './relations-tab.tsx';

/** One resource: what it is, and everything one can do with it. */
export function ResourceDetail({ record, records }: { record: PlatformRecord; records: readonly PlatformRecord[] }) {
  const [{ tab }, change] = useSearch();
  const [isDeleting, setDeleting] = useState(false);
  const kind = kindOf(record);
  const Icon = kind.icon;
  const children = useMemo(() => records.filter((other) => parentIdOf(other) === record.id), [records, record.id]);
  const fresh = useQuery({
    queryKey: [keys.world, 'record', record.id],
    queryFn: ({ signal }) => load<PlatformRecord>(`/meta${recordPath(record)}`, {}, signal),
    initialData: record,
    staleTime: 0,
  }).data;
  const workbench = WORKBENCH[kind.word];

  const tabs = [
    ...(children.length > 0 || PLACES.has(kind.word)
      ? [{ id: 'inside', title: 'Inside', count: children.length, content: <ChildrenTable rows={children} /> }]
      : []),
    { id: 'form', title: 'Form', content: <EditorTabs key="form" record={fresh} as="form" /> },
    { id: 'json', title: 'JSON', content: <EditorTabs key="json" record={fresh} as="json" /> },
    { id: 'history', title: 'History', content: <HistoryTab record={fresh} /> },
    { id: 'relations', title: 'Relations', content: <RelationsTab record={fresh} records={records} /> },
  ];
  return (
    <>
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <Icon aria-hidden size={16} strokeWidth={1.8} className="shrink-0 text-accent" />
          <h2 className="truncate text-[14px]">{record.name}</h2>
          <Badge>{kind.title}</Badge>
          <span className="ml-auto flex gap-2">
            {workbench && (
              <PlaceLink
                to={{ screen: workbench, id: record.id }}
                className="flex h-7 items-center rounded-md border border-line-strong px-2.5 hover:bg-raised"
              >
                Open {workbench === 'lambdas' ? 'workbench' : 'container'}
              </PlaceLink>
            )}
            {parentIdOf(record) !== undefined && (
              <Button icon={Trash2} look="danger" onPress={() => setDeleting(true)}>
                Delete
              </Button>
            )}
          </span>
        </div>
        <div className="flex items-center gap-2.5 text-muted">
          <span className="mono flex items-center">
            {record.id}
            <Copy text={record.id} what="id" className="scale-90" />
          </span>
          {record.created && (
            <span>
              created <Time at={record.created.timestamp} />
            </span>
          )}
          {record.modified && record.modified.timestamp !== record.created?.timestamp && (
            <span>
              changed <Time at={record.modified.timestamp} />
            </span>
          )}
        </div>
        {record.description && <p className="text-muted">{record.description}</p>}
      </div>
      <Tabs label="Parts of the resource" tabs={tabs} value={tab} onChange={(next) => change({ tab: next })} />
      <DeleteDialog record={record} records={records} isOpen={isDeleting} onClose={() => setDeleting(false)} />
    </>
  );
}

const PLACES = new Set(['orgs', 'workspaces', 'environments', 'apis']);
const WORKBENCH: Partial<Record<string, 'lambdas' | 'containers'>> = { lambdas: 'lambdas', containers: 'containers' };
