import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

/** Requests move it on as they come; a minute in which nothing comes does so, too. */
const REFRESH_MS = 15_000;

/** What went wrong last at a service. */
export interface PulseFault {
  at: string;
  method: string;
  target: string;
  status?: number;
  /** Place of the request among those recorded. */
  seq?: number;
  executionId?: string;
}

/** What happens at a service. */
interface ServicePulse {
  /** Of each of the last minutes, the oldest first. */
  perMinute: readonly number[];
  /** Since the platform started. */
  total: number;
  lastFault?: PulseFault;
}

/** Requests and events a minute of each service, as `GET /inspect/pulse` counts them. */
export function usePulse(): Readonly<Record<string, ServicePulse>> {
  const { data } = useQuery({
    queryKey: [keys.traffic, 'pulse'],
    queryFn: ({ signal }) => load<{ services: Record<string, ServicePulse> }>('/inspect/pulse', {}, signal),
    refetchInterval: REFRESH_MS,
  });
  return data?.services ?? {};
}
