import { useQuery } from '@tanstack/react-query';
import type { Debugging, FileLink, TestEvent } from '../../../../server/contract/workbench.ts';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';

export type { FileLink, TestEvent };
/** The lambda runs so that a debugger can attach. */
export type DebugState = Debugging;

/** What a person works on the lambda with, and how to change it. */
export function useWorkbench(lambdaId: string) {
  const queryKey = [keys.workbench, lambdaId];
  const path = `/inspect/lambdas/${lambdaId}` as const;
  const change = { topic: keys.workbench };
  const state = useQuery({
    queryKey,
    queryFn: ({ signal }) => load(`${path}/workbench`, {}, signal),
  });
  const keepEvents = useChange((events: readonly TestEvent[]) => send('PUT', `${path}/events`, { events }), change);
  const link = useChange((file: string) => send('POST', `${path}/link`, { path: file }), change);
  const unlink = useChange(() => send('DELETE', `${path}/link`), change);
  const debug = useChange((isOn: boolean) => send(isOn ? 'POST' : 'DELETE', `${path}/debug`), change);
  return { state, keepEvents, link, unlink, debug };
}
