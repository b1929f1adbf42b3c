import { useMemo } from 'react';
import type { RecordedMark } from '../../../server/api/routes/recorded.ts';
import type { Place } from '../url.ts';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

/** Number of marks that fit next to each other. */
export const PARTS = 32;

/** Something that happened at a moment and may explain what is below it: a commit, a deployment. */
export interface StripMark {
  id: string;
  atMs: number;
  /** Classes of its shape. */
  shape: string;
  /** What happened, in words. */
  text: string;
  /** Of so many near each other it is the newest. */
  count: number;
  place: Place;
}

/** Of each kind its shape, since color alone does not tell them apart, and what shows more of it. */
const KINDS: Readonly<Record<RecordedMark['kind'], { shape: string; place(mark: RecordedMark): Place }>> = {
  commit: {
    shape: 'rotate-45 bg-accent',
    place: ({ seq }) => ({ screen: 'history', search: { sel: String(seq) } }),
  },
  rules: { shape: 'rounded-full bg-warn', place: () => ({ screen: 'leads', search: { tab: 'rules' } }) },
  engine: { shape: 'bg-text', place: () => ({ screen: 'containers' }) },
  deploy: { shape: 'rotate-45 border border-accent bg-panel', place: () => ({ screen: 'pipelines' }) },
};

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
    const marks = (data?.marks ?? []).map((mark): StripMark => {
      const { at, kind, text, seq, count } = mark;
      const { shape, place } = KINDS[kind];
      return { id: `${at} ${kind} ${seq ?? text}`, atMs: Date.parse(at), shape, text, count, place: place(mark) };
    });
    return { marks, total: data?.total ?? 0, isCut: data?.isCut ?? false };
  }, [data]);
}
