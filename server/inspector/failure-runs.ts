import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { Placed, Recent } from './recent.ts';
import type { RecordedInvocation } from './recorded-invocation.ts';

/** So many invocations are looked through, counted from the newest. */
const MAX_LOOKED = 20_000;

/** Invocations of one lambda that failed one after the other, with nothing that went well in between. */
export interface FailureRun {
  lambdaId: Uuid;
  /** Newest first. */
  failures: RecordedInvocation[];
  /** What went well just before the first of them; undefined where none is kept. */
  lastGood: RecordedInvocation | undefined;
  /** Has something gone well since? */
  isOver: boolean;
}

/** Did it fail its purpose: by itself, or by a call that came to nothing? */
function isFailure({ outcome, outboundFailures }: RecordedInvocation): boolean {
  return !outcome.ok || outboundFailures > 0;
}

/** The run that an invocation belongs to; undefined for one that went well. */
export function failureRunOf(
  invocations: Recent<RecordedInvocation>,
  { item }: Placed<RecordedInvocation>,
): FailureRun | undefined {
  if (!isFailure(item)) return undefined;
  const { lambdaId, executionId } = item;
  let failures: RecordedInvocation[] = [];
  let [isOver, isReached] = [false, false];
  for (const one of newestFirst(invocations)) {
    if (one.lambdaId !== lambdaId) continue;
    isReached ||= one.executionId === executionId;
    if (isFailure(one)) failures.push(one);
    else if (isReached) return { lambdaId, failures, lastGood: one, isOver };
    else {
      failures = [];
      isOver = true;
    }
  }
  return isReached ? { lambdaId, failures, lastGood: undefined, isOver } : undefined;
}

/** The runs that are not over: of every lambda whose newest invocation failed, the one that failed last first. */
export function presentFailureRuns(invocations: Recent<RecordedInvocation>): FailureRun[] {
  const runs = new Map<Uuid, FailureRun>();
  const ended = new Set<Uuid>();
  for (const one of newestFirst(invocations)) {
    const { lambdaId } = one;
    if (ended.has(lambdaId)) continue;
    const run = runs.get(lambdaId);
    if (!isFailure(one)) {
      ended.add(lambdaId);
      if (run) run.lastGood = one;
    } else if (run) run.failures.push(one);
    else runs.set(lambdaId, { lambdaId, failures: [one], lastGood: undefined, isOver: false });
  }
  return [...runs.values()];
}

/** The failures that no replay has made good, oldest first: what is still lost. */
export function stillLost(invocations: Recent<RecordedInvocation>, { failures }: FailureRun): RecordedInvocation[] {
  const madeGood = new Set<Uuid>();
  for (const one of newestFirst(invocations)) {
    if (one.replayOf !== undefined && !isFailure(one)) madeGood.add(one.replayOf);
  }
  // A replay that failed again is no second loss.
  return failures.filter(({ executionId, replayOf }) => replayOf === undefined && !madeGood.has(executionId)).reverse();
}

/** What went wrong, in words that stand after the lambda's name. @param crmSaid what the CRM told the sender of a form */
export function failureText({ outcome, outbound }: RecordedInvocation, crmSaid: string | undefined): string {
  if (crmSaid !== undefined) return `the CRM refused this form: ${crmSaid}`;
  if (!outcome.ok) return outcome.message;
  const [call] = failedCalls(outbound);
  if (!call) return 'a call that it made came to nothing';
  const host = URL.canParse(call.url) ? new URL(call.url).host : call.url;
  return `${call.method} to ${host} ${call.error === undefined ? `was answered ${call.status}` : `failed: ${call.error}`}`;
}

function* newestFirst(invocations: Recent<RecordedInvocation>): Generator<RecordedInvocation> {
  const { items } = invocations.page({ limit: MAX_LOOKED, isWanted: () => true, maxLooked: MAX_LOOKED });
  for (const { item } of items) yield item;
}
