import { useMemo } from 'react';
import type { RecordedMark } from '../../../server/api/routes/recorded.ts';
import type { WindowLocation } from '../url.ts';
import { keys } from './query-client.ts';
import { useRead } from './use-read.ts';

/** Number of marks that fit next to each other. */
export const MAX_MARKS = 32;

/** Something that happened at a moment and may explain what is below it: a commit, a deployment. */
export interface StripMark {
  id: string;
  atMs: number;
  /** Classes of its shape. */
  shape: string;
  text: string;
  /** The number of marks near each other, of which this is the newest. */
  count: number;
  location: WindowLocation;
}

/** The shape of each kind, since color alone does not tell them apart, and the location that shows more about a mark. */
const KINDS: Readonly<Record<RecordedMark['kind'], { shape: string; locate(mark: RecordedMark): WindowLocation }>> = {
  commit: {
    shape: 'rotate-45 bg-accent',
    locate: ({ seq }) => ({ screen: 'history', search: { sel: String(seq) } }),
  },
  rules: { shape: 'rounded-full bg-warn', locate: () => ({ screen: 'leads', search: { tab: 'rules' } }) },
  engine: { shape: 'bg-text', locate: () => ({ screen: 'containers' }) },
  deploy: { shape: 'rotate-45 border border-accent bg-panel', locate: () => ({ screen: 'pipelines' }) },
};

export interface Changes {
  marks: readonly StripMark[];
  total: number;
  /** Are there older ones in the range that were not counted? */
  isCut: boolean;
}

/**
 * Reads the changes in a time range for the strip of a list: commits, outbound rules, container engines. Changes near
 * each other become one mark.
 */
export function useMarks(range: { from: string; to: string } | undefined): Changes {
  const [from, to] = [range?.from, range?.to].map((at) => (at === undefined ? undefined : Date.parse(at)));
  const { data } = useRead(
    keys.history,
    '/inspect/marks',
    { from, to, parts: MAX_MARKS },
    { keepsLast: true, enabled: range !== undefined },
  );
  return useMemo(() => {
    const marks = (data?.marks ?? []).map((mark): StripMark => {
      const { at, kind, text, seq, count } = mark;
      const { shape, locate } = KINDS[kind];
      return { id: `${at} ${kind} ${seq ?? text}`, atMs: Date.parse(at), shape, text, count, location: locate(mark) };
    });
    return { marks, total: data?.total ?? 0, isCut: data?.isCut ?? false };
  }, [data]);
}
