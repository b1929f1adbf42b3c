import { SearchedLog } from '../../parts/searched-log.tsx';
import { State } from '../../parts/state.tsx';
import { useLog } from './use-log.ts';

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
