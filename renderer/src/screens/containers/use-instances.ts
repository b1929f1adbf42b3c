import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';

/** The instances of a container or job, read again at each piece of news of any container. */
export function useInstances(id: string) {
  return useRead(keys.containers, `/inspect/containers/${id}/instances`);
}

/** As people know instances: the first twelve digits of the engine's id. */
export const shortId = (id: string) => id.slice(0, 12);
