import { useMutation, useQuery } from '@tanstack/react-query';
import { Play, Square, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { ErrorState, FailureNote } from '../../parts/empty-state.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { State } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { conditionOf, statusOf } from './container-status.ts';

/** One container: log, environment, record; stopping and starting it. */
export function ContainerDetail({ record, onClose }: { record: PlatformRecord; onClose(): void }) {
  const [{ tab }, change] = useSearch();
  const { properties } = record;
  const isStopped = properties.num_instances === 0;
  const scaling = useMutation({
    mutationFn: (instances: number) =>
      send('PATCH', `/meta${recordPath(record)}`, [
        { op: 'replace', path: '/properties/num_instances', value: instances },
      ]),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [keys.world] }),
  });
  const env = typeof properties.env === 'object' && properties.env !== null ? Object.entries(properties.env) : [];
  const tabs = [
    { id: 'logs', title: 'Logs', content: <Logs id={record.id} /> },
    {
      id: 'env',
      title: 'Environment',
      count: env.length,
      content: (
        <div className="px-4 py-2">
          <KeyValue
            rows={env.map(([name, value]) => ({ name, value: String(value), copy: String(value), isMono: true }))}
          />
        </div>
      ),
    },
    { id: 'inspect', title: 'Inspect', content: <JsonView value={record} what="record" /> },
  ];
  return (
    <>
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <State is={conditionOf(record)}>{statusOf(record).toLowerCase()}</State>
          <h2 className="truncate text-[14px]">{record.name}</h2>
          <span className="ml-auto flex items-center gap-2">
            <PlaceLink to={{ screen: 'resources', id: record.id }}>Resource</PlaceLink>
            <Button
              icon={isStopped ? Play : Square}
              look={isStopped ? 'primary' : 'plain'}
              isPending={scaling.isPending}
              onPress={() => scaling.mutate(isStopped ? 1 : 0)}
            >
              {isStopped ? 'Start' : 'Stop'}
            </Button>
            <IconButton icon={X} label="Close the detail" onPress={onClose} />
          </span>
        </div>
        <p className="mono truncate text-muted">{String(properties.image)}</p>
        {typeof properties.status_detail === 'string' && <p className="text-warn">{properties.status_detail}</p>}
        {scaling.error && <FailureNote failure={failureOf(scaling.error)} />}
      </div>
      <Tabs label="Parts of the container" tabs={tabs} value={tab} onChange={(next) => change({ tab: next })} />
    </>
  );
}

interface LogPage {
  lines: { at: string; stream: string; text: string }[];
  cursor: string;
}

/** Within how many pixels of the end one still follows. */
const FOLLOW_PX = 40;
const REFRESH_MS = 2000;

/** What it prints; it follows until one scrolls up, and marks what is searched. */
function Logs({ id }: { id: string }) {
  const [wanted, setWanted] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const log = useQuery({
    queryKey: [keys.logs, id],
    queryFn: ({ signal }) => load<LogPage>(`/inspect/logs/${id}`, {}, signal),
    refetchInterval: REFRESH_MS,
  });
  const lines = log.data?.lines ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is somewhere else after each reading
  useEffect(() => {
    if (box.current && isFollowing.current) box.current.scrollTop = box.current.scrollHeight;
  }, [log.data]);
  const text = wanted.toLowerCase();
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="border-b border-line p-2">
        <FilterField label="Search the log" placeholder="Search the log" value={wanted} onChange={setWanted} />
      </div>
      {log.error ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : (
        <div
          ref={box}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
          tabIndex={0}
          className="min-h-0 flex-1 overflow-auto py-2"
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isFollowing.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
          }}
        >
          {lines.length === 0 && <p className="px-4 text-muted">Nothing printed yet.</p>}
          {lines.map((line, index) => (
            <p
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id, and are only added at the end
              key={index}
              className={`mono px-4 break-words whitespace-pre-wrap ${line.stream === 'stderr' ? 'text-error' : ''} ${
                text !== '' && line.text.toLowerCase().includes(text) ? 'bg-warn-soft' : ''
              }`}
            >
              {line.text}
            </p>
          ))}
        </div>
      )}
    </div>
  );
}
