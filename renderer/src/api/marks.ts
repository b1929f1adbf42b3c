import { useMemo } from 'react';
import type { StripMark } from '../parts/list/time-strip.tsx';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

/** What was changed lately, for the strip of a list: commits, outbound rules, container engines. */
export function useMarks(): readonly StripMark[] {
  const { data } = useRead(keys.history, '/inspect/marks', {}, { keepsLast: true });
  return useMemo(
    () =>
      (data?.marks ?? []).map(({ at, kind, text, seq }, index) => ({
        id: `${at} ${index}`,
        atMs: Date.parse(at),
        kind,
        text,
        ...(kind === 'commit' && { place: { screen: 'history', search: { sel: String(seq) } } as const }),
        ...(kind === 'rules' && { place: { screen: 'leads', search: { tab: 'rules' } } as const }),
        ...(kind === 'deploy' && { place: { screen: 'pipelines' } as const }),
        ...(kind === 'engine' && { place: { screen: 'containers' } as const }),
      })),
    [data],
  );
}
