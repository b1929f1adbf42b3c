import type { TestEvent } from '../../../../server/api/routes/workbench.ts';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';

export type { Debugging as DebugState, FileLink, TestEvent } from '../../../../server/api/routes/workbench.ts';

/** Reads the tools for working on a lambda, and returns functions that change them. */
export function useWorkbench(lambdaId: string) {
  const path = `/inspect/lambdas/${lambdaId}` as const;
  const change = { topic: keys.workbench };
  const state = useRead(keys.workbench, `${path}/workbench`);
  const keepEvents = useChange((events: readonly TestEvent[]) => send('PUT', `${path}/events`, { events }), change);
  const link = useChange((file: string) => send('POST', `${path}/link`, { path: file }), change);
  const unlink = useChange(() => send('DELETE', `${path}/link`), change);
  const debug = useChange((isOn: boolean) => send(isOn ? 'POST' : 'DELETE', `${path}/debug`), change);
  return { state, keepEvents, link, unlink, debug };
}
