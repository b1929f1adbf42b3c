import { RotateCw } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { Switch } from '../../components/fields.tsx';
import { State } from '../../components/state.tsx';
import { prefer, preferences } from '../../preferences/preferences.ts';
import { useValue } from '../../value-store.ts';
import { runningOf } from './container-status.ts';
import { InstanceSelect } from './instance-select.tsx';
import { hasTerminal, type TerminalSession, terminalOf } from './terminal-session.ts';

/** A terminal in an instance: each key goes to a shell there. */
export function TerminalTab({ record }: { record: PlatformRecord }) {
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
