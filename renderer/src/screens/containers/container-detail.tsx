import { Play, RotateCw, Square, X } from 'lucide-react';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Badge } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { ConsoleTab } from './console-tab.tsx';
import { AddressLink, ContainerState, PullBar, pullText } from './container-columns.tsx';
import { ContainerMenu } from './container-menu.tsx';
import { referenceName } from './container-place.ts';
import { conditionOf, isJob, reasonOf, requestedInstances, restartWord, runningOf } from './container-status.ts';
import { EnvTab } from './env-tab.tsx';
import { InstancesTab } from './instances-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { StatsTab } from './stats-tab.tsx';
import { TerminalTab } from './terminal-tab.tsx';
import { useContainerActions } from './use-container-actions.ts';
import type { ContainerRow } from './use-containers.ts';

export function ContainerDetail({ row, onClose }: { row: ContainerRow; onClose(): void }) {
  const { record } = row;
  const [{ tab }, change] = useSearch();
  const tabs = [
    { id: 'logs', title: 'Logs', isFilling: true, content: <LogTab id={record.id} /> },
    { id: 'stats', title: 'Stats', content: <StatsTab record={record} /> },
    { id: 'terminal', title: 'Terminal', isFilling: true, content: <TerminalTab record={record} /> },
    { id: 'console', title: 'Console', isFilling: true, content: <ConsoleTab record={record} /> },
    { id: 'env', title: 'Environment', content: <EnvTab record={record} /> },
    { id: 'instances', title: 'Instances', count: runningOf(record), content: <InstancesTab record={record} /> },
    { id: 'inspect', title: 'Inspect', content: <JsonView value={record} subject="record" /> },
  ];
  return (
    <>
      <Head row={row} onClose={onClose} />
      <Tabs
        isInDetail
        label="Parts of the container"
        tabs={tabs}
        value={tab}
        onChange={(next) => change({ tab: next })}
      />
    </>
  );
}

function Head({ row: { record, pull, addresses }, onClose }: { row: ContainerRow; onClose(): void }) {
  const actions = useContainerActions(record);
  const isStopped = requestedInstances(record) === 0;
  const needs = isJob(record) ? 'job.update' : 'container.update';
  const reason = reasonOf(record);
  const image = String(record.properties.image ?? '');
  return (
    <div className="flex flex-col gap-1.5 border-b border-line px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <ContainerState record={record} />
        <h2 className="truncate text-title">{record.name}</h2>
        {isJob(record) && <Badge>job</Badge>}
        <span className="ml-auto flex items-center gap-1.5">
          {isStopped ? (
            <Button icon={Play} needs={needs} look="primary" isPending={actions.isPending} onPress={actions.start}>
              Start
            </Button>
          ) : (
            <>
              <Button icon={RotateCw} needs={needs} isPending={actions.isPending} onPress={actions.restart}>
                {restartWord(record)}
              </Button>
              <Button icon={Square} needs={needs} isPending={actions.isPending} onPress={actions.stop}>
                Stop
              </Button>
            </>
          )}
          <ContainerMenu record={record} />
          <IconButton icon={X} label="Close the detail" onPress={onClose} />
        </span>
      </div>
      <p className="flex min-w-0 items-center gap-1">
        <span className="mono truncate text-muted">{image}</span>
        <Copy text={image} subject="image" />
        <span className="ml-auto shrink-0">
          <PlaceLink to={{ screen: 'resources', id: record.id }}>Resource</PlaceLink>
        </span>
      </p>
      <p className="flex min-h-6 min-w-0 flex-wrap items-center gap-x-3">
        <span className="text-muted">
          {runningOf(record)} of {requestedInstances(record)} in {referenceName(record.properties.parent)}
        </span>
        {addresses.map((address) => (
          <span key={address.href} className="flex items-center gap-1">
            <AddressLink address={address} />
            <Copy text={address.href} subject={`address of ${address.name}`} />
          </span>
        ))}
      </p>
      {pull && (
        <div>
          <PullBar pull={pull} name={record.name} />
          <p className="truncate text-small text-muted">{pullText(pull)}</p>
        </div>
      )}
      {reason && !pull && (
        <p className={`break-words ${conditionOf(record) === 'error' ? 'text-error' : 'text-warn'}`}>{reason}</p>
      )}
    </div>
  );
}
