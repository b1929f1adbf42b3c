import { useMutation, useQuery } from '@tanstack/react-query';
import type { Debugging, FileLink, TestEvent } from '../../../../server/contract/workbench.ts';
import { load, send } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';

export type { FileLink, TestEvent };
/** The lambda runs so that a debugger can attach. */
export type DebugState = Debugging;

/** What a person works on the lambda with, and how to change it. */
export function useWorkbench(lambdaId: string) {
  const queryKey = [keys.workbench, lambdaId];
  const path = `/inspect/lambdas/${lambdaId}` as const;
  const again = () => void queryClient.invalidateQueries({ queryKey });
  const state = useQuery({
    queryKey,
    queryFn: ({ signal }) => load(`${path}/workbench`, {}, signal),
  });
  const keepEvents = useMutation({
    mutationFn: (events: readonly TestEvent[]) => send('PUT', `${path}/events`, { events }),
    onSettled: again,
  });
  const link = useMutation({
    mutationFn: (file: string) => send('POST', `${path}/link`, { path: file }),
    onSettled: again,
  });
  const unlink = useMutation({ mutationFn: () => send('DELETE', `${path}/link`), onSettled: again });
  const debug = useMutation({
    mutationFn: (isOn: boolean) => send(isOn ? 'POST' : 'DELETE', `${path}/debug`),
    onSettled: again,
  });
  return { state, keepEvents, link, unlink, debug };
}
