import { Pause, Play } from 'lucide-react';
import { Button } from 'react-aria-components';
import { live, togglePause } from '../api/live.ts';
import { storageProblem, usePlatformStatus } from '../api/use-platform-status.ts';
import { counted } from '../components/amounts.ts';
import { State } from '../components/state.tsx';
import { useValue } from '../value-store.ts';
import { PlaceLink } from './place-link.tsx';

/** The status bar, with what applies to the whole platform. */
export function StatusBar() {
  const connection = useValue(live.connection);
  const rate = useValue(live.eventsPerSecond);
  const isPaused = useValue(live.isPaused);
  const heldCount = useValue(live.heldCount);
  const { data, isError } = usePlatformStatus();
  // Without a response, earlier data may be outdated.
  const status = isError ? undefined : data;
  const problem = status && storageProblem(status);
  const engine = status?.engines.find(({ state }) => state !== 'off');
  return (
    <footer className="col-span-full flex items-center gap-x-4 overflow-x-auto overflow-y-hidden whitespace-nowrap border-t [scrollbar-width:none] border-line bg-panel px-3.5 text-small text-muted">
      <Button
        aria-label={isPaused ? 'Resume live updates' : 'Pause live updates'}
        onPress={togglePause}
        className="-ml-1.5 flex size-6 shrink-0 items-center justify-center rounded data-[hovered]:bg-raised data-[hovered]:text-text"
      >
        {isPaused ? <Play aria-hidden size={13} /> : <Pause aria-hidden size={13} />}
      </Button>
      {isPaused ? (
        <State is="warning">paused{heldCount > 0 && `, ${heldCount.toLocaleString('en')} waiting`}</State>
      ) : connection === 'live' ? (
        <State is="ok">live</State>
      ) : connection === 'polling' ? (
        <State is="ok">up to date</State>
      ) : connection === 'lost' ? (
        <State is="error">disconnected</State>
      ) : (
        <State is="idle">connecting</State>
      )}
      {/* While it cannot know, it says nothing of what was. */}
      {status && connection !== 'lost' && (
        <>
          <PlaceLink to={{ screen: 'history' }} className="hover:text-text">
            <State is={problem === undefined ? 'ok' : 'error'}>{problem ?? `saved, commit ${status.store.seq}`}</State>
          </PlaceLink>
          <PlaceLink to={{ screen: 'containers' }} className="hover:text-text">
            <State is={engine?.state === 'ready' ? 'ok' : engine ? 'warning' : 'idle'}>
              {engine
                ? engine.state === 'ready'
                  ? (engine.version ?? 'engine ready')
                  : `engine ${engine.state}`
                : 'no container engine'}
            </State>
          </PlaceLink>
          <span>{counted(status.processes.processes, 'child process', 'child processes')}</span>
        </>
      )}
      <span>{counted(rate, 'event')}/s</span>
      <span className="ml-auto">No telemetry</span>
    </footer>
  );
}
