import { Play, RotateCw, Square, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Switch } from '../../components/fields.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge, State } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { prefer, preferences } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { isSecretName } from '../resources/secret-field.tsx';
import { ConsoleTab } from './console-tab.tsx';
import { AddressLink, ContainerState, PullBar, pullText } from './container-columns.tsx';
import { ContainerMenu } from './container-menu.tsx';
import { referenceName, typedPath } from './container-place.ts';
import { conditionOf, isJob, reasonOf, requestedInstances, restartWord, runningOf } from './container-status.ts';
import { InstanceSelect } from './instance-select.tsx';
import { InstancesTab } from './instances-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { StatsTab } from './stats-tab.tsx';
import { hasTerminal, type TerminalSession, terminalOf } from './terminal-session.ts';
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

const MASK = '\u2022'.repeat(8);

/** The variables that instances get, inherited ones too (D-111); what looks secret is covered. */
function EnvTab({ record }: { record: PlatformRecord }) {
  const [isOpen, setOpen] = useState(false);
  const path = `${typedPath(record, isJob(record) ? 'jobs' : 'containers')}/env`;
  const merged = useWorld<Record<string, string>>(path);
  if (!merged.data) return <Pending query={merged} label="Reading the environment" rows={4} />;
  const ownNames = new Set(Object.keys(Object(record.properties.env)));
  const names = Object.keys(merged.data).sort();
  const covered = names.filter(isSecretName);
  if (names.length === 0) {
    return <p className="px-4 py-3 text-muted">No variables, neither set here nor inherited.</p>;
  }
  return (
    <div className="flex flex-col gap-2 px-4 py-2">
      <div className="flex items-center justify-between gap-3">
        <p className="text-muted">Inherited values apply from the next start.</p>
        {covered.length > 0 && (
          <Switch isSelected={isOpen} onChange={setOpen}>
            Show secret values
          </Switch>
        )}
      </div>
      <KeyValue
        nameWidth={200}
        rows={names.map((name) => {
          const value = merged.data[name] ?? '';
          return {
            name,
            isMono: true,
            copy: value,
            value: (
              <span className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 break-all">{covered.includes(name) && !isOpen ? MASK : value}</span>
                {!ownNames.has(name) && <Badge>inherited</Badge>}
              </span>
            ),
          };
        })}
      />
    </div>
  );
}

/** A terminal in an instance: each key goes to a shell there. */
function TerminalTab({ record }: { record: PlatformRecord }) {
  if (runningOf(record) === 0 && !hasTerminal(record.id)) {
    return <p className="px-4 py-3 text-muted">The terminal needs a running instance, and none is running.</p>;
  }
  return <OpenTerminal key={record.id} record={record} session={terminalOf(record.id)} />;
}

function OpenTerminal({ record, session }: { record: PlatformRecord; session: TerminalSession }) {
  const state = useValue(session.state);
  const { isTerminalAnnounced } = useValue(preferences);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? session.show(box.current) : undefined), [session]);
  useEffect(() => session.announce(isTerminalAnnounced), [session, isTerminalAnnounced]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
        {state.kind === 'open' && <State is="ok">open</State>}
        {state.kind === 'opening' && <State is="running">opening</State>}
        {state.kind === 'ended' && (
          <>
            <State is="idle">ended</State>
            <span className="min-w-0 break-words">{state.message}</span>
            <Button icon={RotateCw} look="primary" onPress={() => void session.open(session.instance)}>
              Reconnect
            </Button>
          </>
        )}
        <InstanceSelect record={record} value={session.instance} onChange={(instance) => void session.open(instance)} />
        <span className="ml-auto flex flex-wrap items-center gap-x-3">
          <span className="text-small text-muted">Shift+Tab leaves the terminal</span>
          <Switch isSelected={isTerminalAnnounced} onChange={(isOn) => prefer({ isTerminalAnnounced: isOn })}>
            Screen reader
          </Switch>
        </span>
      </div>
      <section ref={box} aria-label={`Terminal in ${record.name}`} className="min-h-0 flex-1 bg-panel py-1 pl-3" />
    </div>
  );
}
