import type { PlatformPulse } from '../../../server/contract/window.ts';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

export type { ShownFault as PulseFault } from '../../../server/contract/window.ts';

/** Requests move it on as they come; a minute in which nothing comes does so, too. */
const REFRESH_MS = 15_000;

/** Requests and events a minute of each service, as `GET /inspect/pulse` counts them. */
export function usePulse(): PlatformPulse['services'] {
  const { data } = useRead(keys.traffic, '/inspect/pulse', {}, { refetchInterval: REFRESH_MS });
  return data?.services ?? {};
}
