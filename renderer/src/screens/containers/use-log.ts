import { useEffect, useMemo, useRef } from 'react';
import { addressOf, ask } from '../../api/client.ts';
import { EventStream } from '../../api/event-stream.ts';
import { live } from '../../api/live.ts';
import { useValue } from '../../value-store.ts';
import { LogFeed, type LogState } from './log-feed.ts';

/** The log of a container, job or lambda, live for as long as the caller is on the page; it stands still while one has paused. */
export function useLog(id: string): LogState {
  const feed = useMemo(() => {
    const path = `/inspect/logs/${id}`;
    return new LogFeed({
      open: (after) => new EventStream(addressOf(`${path}/stream`, { after })),
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
