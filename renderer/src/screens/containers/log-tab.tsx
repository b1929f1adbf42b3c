import { useEffect, useMemo, useRef } from 'react';
import { ask } from '../../api/client.ts';
import { listenTo } from '../../api/event-stream.ts';
import { live } from '../../api/live.ts';
import type { ShownLine } from '../../components/log-lines.tsx';
import { SearchedLog } from '../../components/searched-log.tsx';
import { State } from '../../components/state.tsx';
import { useValue } from '../../value-store.ts';
import { logEntries } from '../lambdas/log-entries.ts';
import { LogFeed, type LogLine, type LogState } from './log-feed.ts';
import { shortId } from './use-instances.ts';

export function LogTab({ id }: { id: string }) {
  const log = useLog(id);
  const lines = useMemo(() => shownLines(log.lines), [log.lines]);
  return (
    <SearchedLog
      lines={lines}
      empty={log.connection === 'connecting' ? 'Reading the log ...' : 'No output yet. Output appears here.'}
      notices={
        <>
          {log.connection === 'away' && (
            <p role="status" className="border-b border-line bg-warn-soft px-3 py-1 text-small">
              <State is="warning">not live</State> {log.reason ?? 'The log is not available'}; it is tried again.
            </p>
          )}
          {log.hasGap && (
            <p className="border-b border-line px-3 py-1 text-small text-muted">
              The output was too fast to read: some lines are missing.
            </p>
          )}
        </>
      }
    />
  );
}

const REPLICA_COLORS = ['text-accent', 'text-running', 'text-warn', 'text-ok', 'text-muted'];

/** A stack trace is one entry. With several replicas, each line starts with the name of its replica, in its color. */
function shownLines(lines: readonly LogLine[]): readonly ShownLine[] {
  const replicas = [...new Set(lines.map(({ instance }) => instance))];
  const entries = logEntries(lines, false);
  if (replicas.length < 2) return entries;
  return entries.map((line) => ({ ...line, margin: nameOf(line, replicas.indexOf(line.instance)) }));
}

function nameOf({ instance = '', stream }: LogLine, index: number) {
  return (
    <>
      <span title={`Replica ${instance}`} className={`shrink-0 ${REPLICA_COLORS[index % REPLICA_COLORS.length]}`}>
        {shortId(instance)}
      </span>
      {stream === 'stderr' && (
        <span title="Standard error" className="shrink-0 text-error select-none">
          err
        </span>
      )}
    </>
  );
}

/** The log of a container, job or lambda, live for as long as the caller is on the page; it does not move while paused. */
function useLog(id: string): LogState {
  const feed = useMemo(() => {
    const path = `/inspect/logs/${id}`;
    return new LogFeed({
      listen: (listener) => listenTo(`${path}/stream`, listener),
      findRefusal: async () => {
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
  const visibleState = useRef(state);
  if (!isPaused) visibleState.current = state;
  return visibleState.current;
}
