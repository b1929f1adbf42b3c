import { useEffect, useMemo, useRef } from 'react';
import { ask } from '../../api/client.ts';
import { listenTo } from '../../api/event-stream.ts';
import { live } from '../../api/live.ts';
import { SearchedLog } from '../../parts/searched-log.tsx';
import { State } from '../../parts/state.tsx';
import { useValue } from '../../value-store.ts';
import { LogFeed, type LogState } from './log-feed.ts';

/** What the instances print, as they print it. */
export function LogTab({ id }: { id: string }) {
  const log = useLog(id);
  return (
    <SearchedLog
      lines={log.lines}
      empty={
        log.connection === 'connecting' ? 'Reading the log ...' : 'Nothing printed yet. What is printed shows up here.'
      }
      notices={
        <>
          {log.connection === 'away' && (
            <p role="status" className="border-b border-line bg-warn-soft px-3 py-1 text-[12px]">
              <State is="warning">not live</State> {log.reason ?? 'The log does not come through'}; it is tried again.
            </p>
          )}
          {log.hasGap && (
            <p className="border-b border-line px-3 py-1 text-[12px] text-muted">
              More was printed than could be read: some lines are not here.
            </p>
          )}
        </>
      }
    />
  );
}

/** The log of a container, job or lambda, live for as long as the caller is on the page; it stands still while one has paused. */
function useLog(id: string): LogState {
  const feed = useMemo(() => {
    const path = `/inspect/logs/${id}`;
    return new LogFeed({
      listen: (listener) => listenTo(`${path}/stream`, listener),
      whyRefused: async () => {
        const answer = await ask('GET', path, { query: { time: '1s' } });
        return answer.ok ? undefined : answer.failure.message;
      },
    });
  }, [id]);
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, [feed]);
  const state = useValue(feed.state);
  const isPaused = useValue(live.isPaused);
  const shown = useRef(state);
  if (!isPaused) shown.current = state;
  return shown.current;
}
