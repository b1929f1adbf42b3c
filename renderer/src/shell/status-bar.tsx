import { live } from '../api/live.ts';
import { usePlatformStatus } from '../api/platform-status.ts';
import { State } from '../parts/state.tsx';
import { useValue } from '../value-store.ts';

/** The line at the foot: what holds for the whole platform. */
export function StatusBar() {
  const connection = useValue(live.connection);
  const rate = useValue(live.eventsPerSecond);
  const isPaused = useValue(live.isPaused);
  const held = useValue(live.heldCount);
  usePlatformStatus();
  return (
    <footer className="col-span-full flex items-center gap-5 overflow-hidden border-t border-line bg-panel px-3.5 text-[11.5px] text-muted">
      {isPaused ? (
        <State is="warning">paused{held > 0 && ` - ${held.toLocaleString('en')} waiting`}</State>
      ) : connection === 'live' ? (
        <State is="ok">live</State>
      ) : connection === 'polling' ? (
        <State is="ok">up to date</State>
      ) : connection === 'lost' ? (
        <State is="error">disconnected</State>
      ) : (
        <State is="idle">connecting</State>
      )}
      <span>{rate} events/s</span>
      <span className="ml-auto">offline, no telemetry</span>
    </footer>
  );
}
