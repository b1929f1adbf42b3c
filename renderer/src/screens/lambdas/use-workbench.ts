import { useMutation, useQuery } from '@tanstack/react-query';
import { load, send } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';

/** An event that is kept for trying the lambda. */
export interface TestEvent {
  name: string;
  /** As text, as the lambda is given it. */
  body: string;
}

/** The file that the lambda's code follows. */
export interface FileLink {
  path: string;
  takenAt?: string;
  /** Why the lambda does not have what is in the file. */
  problem?: string;
}

/** The lambda runs so that a debugger can attach. */
export interface DebugState {
  startedAt: string;
  /** `ws://127.0.0.1:PORT/ID`; absent until its process listens. */
  url?: string;
  file?: string;
  problem?: string;
}

export interface WorkbenchState {
  events: readonly TestEvent[];
  /** For the root user only. */
  link?: FileLink;
  debug?: DebugState;
}

/** What a person works on the lambda with, and how to change it. */
export function useWorkbench(lambdaId: string) {
  const queryKey = [keys.workbench, lambdaId];
  const path = `/inspect/lambdas/${lambdaId}`;
  const again = () => void queryClient.invalidateQueries({ queryKey });
  const state = useQuery({
    queryKey,
    queryFn: ({ signal }) => load<WorkbenchState>(`${path}/workbench`, {}, signal),
  });
  const keepEvents = useMutation({
    mutationFn: (events: readonly TestEvent[]) => send('PUT', `${path}/events`, { events }),
    onSettled: again,
  });
  const link = useMutation({
    mutationFn: (file: string) => send<FileLink>('POST', `${path}/link`, { path: file }),
    onSettled: again,
  });
  const unlink = useMutation({ mutationFn: () => send('DELETE', `${path}/link`), onSettled: again });
  const debug = useMutation({
    mutationFn: (isOn: boolean) => send(isOn ? 'POST' : 'DELETE', `${path}/debug`),
    onSettled: again,
  });
  return { state, keepEvents, link, unlink, debug };
}
