import { load, send } from '../../api/client.ts';
import { headersIn } from '../../api/send-request.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { firstEventOf } from '../lambdas/web-form.ts';
import type { EndpointTarget } from './use-endpoints.ts';

export interface WrittenRequest {
  method: string;
  path: string;
  /** `Name: value`, one a line. */
  headers: string;
  body: string;
  asMe: boolean;
  /** Id of the user in whose name root sends it. */
  as?: string | undefined;
}

/** A request to edit, and the number of the rejected request that it repeats. */
export interface FirstRequest extends WrittenRequest {
  replayOf?: number;
}

const TOPIC = 'saved requests';

/** The requests that are saved on the platform, for all users who can send requests. */
export function useSavedRequests() {
  // Other users save requests, too, and no event reports them.
  const read = useRead(TOPIC, '/inspect/saved-requests', {}, { staleTime: 0 });
  const save = useChange(
    ({ name, request, replaces }: { name: string; request: WrittenRequest; replaces: boolean }) =>
      send('POST', '/inspect/saved-requests', { ...request, headers: headersIn(request.headers), name, replaces }),
    { topic: TOPIC, message: (_, { name }) => `${name} was saved for all users.`, refusal: 'Not saved: ' },
  );
  const remove = useChange((name: string) => send('DELETE', `/inspect/saved-requests/${encodeURIComponent(name)}`), {
    topic: TOPIC,
    message: (_, name) => `${name} was deleted.`,
    refusal: 'Not deleted: ',
  });
  const requests = (read.data?.requests ?? []).map(({ name, headers = [], body = '', asMe = false, ...rest }) => ({
    name,
    request: { ...rest, body, asMe, headers: headers.map((header) => header.join(': ')).join('\n') },
  }));
  return { requests, save, remove };
}

/** An example body for the target of an endpoint: the first saved event of a lambda, or a known one. */
export async function firstBodyFor(target: EndpointTarget | undefined): Promise<string> {
  if (target?.kind !== 'lambda' || target.isGone) return '{}';
  try {
    const { events } = await load(`/inspect/lambdas/${target.id}/workbench` as const);
    const [first] = events;
    return first?.body ?? firstEventOf(await load<PlatformRecord>(`/meta/root/resources/${target.id}`));
  } catch {
    // A user who may not view the lambda can still send a request.
    return '{}';
  }
}
