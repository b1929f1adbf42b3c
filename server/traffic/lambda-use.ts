import type { LambdaUse } from '../contract/recorded.ts';
import { timeOf } from '../model/iso-time.ts';
import type { RecordRing } from '../store/records/record-ring.ts';
import { failureText } from './failure-runs.ts';
import { isFailedMark, type RecordedInvocation, type WholeInvocation } from './recorded-invocation.ts';

/** So many invocations are counted, from the newest. */
const MAX_LOOKED = 20_000;

interface Count {
  calls: number;
  failed: number;
  lastSeq: number;
  lastFailedSeq: number | undefined;
}

/** How each lambda fared of late: counted from what is at hand of each record, so that few of them are read. */
export function lambdaUse(
  invocations: RecordRing<RecordedInvocation>,
  whole: (one: RecordedInvocation) => WholeInvocation,
  refusalOf: (executionId: string) => string | undefined,
): LambdaUse[] {
  const counts = new Map<number, Count>();
  for (const { seq, group, mark } of invocations.marks(MAX_LOOKED)) {
    const isFailed = isFailedMark(mark);
    const count = counts.get(group) ?? { calls: 0, failed: 0, lastSeq: seq, lastFailedSeq: undefined };
    count.calls += 1;
    count.failed += isFailed ? 1 : 0;
    if (isFailed) count.lastFailedSeq ??= seq;
    counts.set(group, count);
  }
  return [...counts.values()].flatMap(({ calls, failed, lastSeq, lastFailedSeq }) => {
    const last = invocations.at(lastSeq)?.item;
    // The file of a record may be damaged.
    if (!last) return [];
    const failure = lastFailedSeq === undefined ? undefined : invocations.at(lastFailedSeq)?.item;
    return {
      lambdaId: last.lambdaId,
      calls,
      failed,
      last: { executionId: last.executionId, at: timeOf(last.acceptedAtMs) },
      lastFailure: failure && {
        executionId: failure.executionId,
        at: timeOf(failure.acceptedAtMs),
        text: failureText(whole(failure), refusalOf(failure.executionId)),
      },
    };
  });
}
