import type { LambdaUse } from '../../api/routes/recorded.ts';
import { failureText } from './failure-runs.ts';
import { isFailedMark } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';

interface Count {
  calls: number;
  failed: number;
  lastSeq: number;
  lastFailedSeq: number | undefined;
}

/** Recent results of each lambda, counted from the index so that few records are read. */
export function lambdaUse(
  { invocations, bodies }: Pick<Recorder, 'invocations' | 'bodies'>,
  refusalOf: (executionId: string) => string | undefined,
): LambdaUse[] {
  const counts = new Map<number, Count>();
  for (const { seq, group, mark } of invocations.marks()) {
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
      last: { executionId: last.executionId, at: last.acceptedAt },
      lastFailure: failure && {
        executionId: failure.executionId,
        at: failure.acceptedAt,
        text: failureText(bodies, failure, refusalOf(failure.executionId)),
      },
    };
  });
}
