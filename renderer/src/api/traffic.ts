import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

/** A request that went through the gateway, as `GET /inspect/traffic` gives it. */
export interface GatewayRequest {
  at: string;
  durationMs: number;
  upstreamMs: number;
  method: string;
  target: string;
  peer: string;
  status?: number;
  endpointId?: string;
  executionId?: string;
  userId?: string;
}

/** The newest requests to the gateway, newest first. */
export function useTraffic(limit = 1000) {
  return useQuery({
    queryKey: [keys.traffic, 'list', limit],
    queryFn: ({ signal }) => load<{ requests: GatewayRequest[] }>('/inspect/traffic', { limit }, signal),
  });
}

/** How many of the moments fell into each of the last `minutes` minutes, the oldest first. */
export function perMinute(atMs: readonly number[], nowMs: number, minutes: number): number[] {
  const counts = new Array<number>(minutes).fill(0);
  for (const at of atMs) {
    const ago = Math.floor((nowMs - at) / 60_000);
    const slot = minutes - 1 - Math.max(0, ago);
    const count = counts[slot];
    if (count !== undefined) counts[slot] = count + 1;
  }
  return counts;
}
