import { useMemo } from 'react';
import type { Place } from '../url.ts';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

/** Number of marks that fit next to each other. */
export const PARTS = 32;

/** Something that happened at a moment and may explain what is below it: a commit, a deployment. */
export interface StripMark {
  id: string;
  atMs: number;
  /** Each has a different shape. */
  kind: 'commit' | 'rules' | 'engine' | 'deploy';
  /** What happened, in words. */
  text: string;
  /** Of so many near each other it is the newest. */
  count: number;
  place: Place;
}

export interface Changes {
  marks: readonly StripMark[];
  total: number;
  /** Are there older ones in the range that were not counted? */
  isCut: boolean;
}

/** What was changed in a part of the time, for the strip of a list: commits, outbound rules, container engines. Near ones are one mark. */
export function useMarks(range: { from: string; to: string } | undefined): Changes {
  const [from, to] = [range?.from, range?.to].map((at) => (at === undefined ? undefined : Date.parse(at)));
  const { data } = useRead(
    keys.history,
    '/inspect/marks',
    { from, to, parts: PARTS },
    { keepsLast: true, enabled: range !== undefined },
  );
  return useMemo(() => {
    const marks = (data?.marks ?? []).map(({ at, kind, text, seq, count }): StripMark => {
      const place: Readonly<Record<typeof kind, Place>> = {
        commit: { screen: 'history', search: { sel: String(seq) } },
        rules: { screen: 'leads', search: { tab: 'rules' } },
        deploy: { screen: 'pipelines' },
        engine: { screen: 'containers' },
      };
      return { id: `${at} ${kind} ${seq ?? text}`, atMs: Date.parse(at), kind, text, count, place: place[kind] };
    });
    return { marks, total: data?.total ?? 0, isCut: data?.isCut ?? false };
  }, [data]);
}
