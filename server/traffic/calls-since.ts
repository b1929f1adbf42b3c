import { isFailedMark } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';

/** So many invocations are looked through, counted from the newest. */
const MAX_LOOKED = 20_000;

/** What became of the calls of a lambda since a moment; one that failed and went well when it was replayed does not count as failed. */
export function callsOf({ invocations }: Recorder) {
  return {
    /** @param sinceMs epoch milliseconds */
    since(lambdaId: string, sinceMs: number): { calls: number; failed: number } {
      const group = invocations.groupOf(lambdaId);
      const mended = new Set<string>();
      let [calls, failed, looked] = [0, 0, 0];
      for (const place of invocations.marks(MAX_LOOKED)) {
        if (place.group !== group) continue;
        const one = invocations.at(place.seq)?.item;
        if (!one || looked++ === MAX_LOOKED || one.acceptedAtMs < sinceMs) break;
        calls += 1;
        if (!isFailedMark(place.mark)) {
          if (one.replayOf !== undefined) mended.add(one.replayOf);
        } else if (!mended.has(one.executionId) && !mended.has(one.replayOf ?? '')) failed += 1;
      }
      return { calls, failed };
    },
  };
}
