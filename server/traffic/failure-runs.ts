import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { MarkedPlace, Placed, RecordRing } from '../store/records/record-ring.ts';
import { isFailedMark, isReplayMark, type RecordedInvocation, type WholeInvocation } from './recorded-invocation.ts';

/** So many invocations are looked through, counted from the newest. */
const MAX_LOOKED = 20_000;

type Invocations = RecordRing<RecordedInvocation>;

/** Invocations of one lambda that failed one after the other, with nothing that went well in between. */
export interface FailureRun {
  lambdaId: Uuid;
  newest: RecordedInvocation;
  first: RecordedInvocation;
  /** Their places, newest first. */
  failures: MarkedPlace[];
  /** What went well just before the first of them; undefined where none is kept. */
  lastGood: RecordedInvocation | undefined;
  /** Has something gone well since? */
  isOver: boolean;
}

/** The run that an invocation belongs to; undefined for one that went well: it did what it was for, and so did its calls. */
export function failureRunOf(
  invocations: Invocations,
  { seq, item }: Placed<RecordedInvocation>,
): FailureRun | undefined {
  const group = invocations.groupOf(item.lambdaId);
  let failures: MarkedPlace[] = [];
  let [isOver, isReached] = [false, false];
  for (const one of invocations.marks(MAX_LOOKED)) {
    if (one.group !== group) continue;
    isReached ||= one.seq === seq;
    if (isFailedMark(one.mark)) failures.push(one);
    else if (isReached) return runOf(invocations, failures, one, isOver);
    else {
      failures = [];
      isOver = true;
    }
  }
  return isReached ? runOf(invocations, failures, undefined, isOver) : undefined;
}

/** The runs that are not over: of every lambda whose newest invocation failed, the one that failed last first. */
export function presentFailureRuns(invocations: Invocations): FailureRun[] {
  const runs = new Map<number, { failures: MarkedPlace[]; lastGood: MarkedPlace | undefined }>();
  const ended = new Set<number>();
  for (const one of invocations.marks(MAX_LOOKED)) {
    const { group } = one;
    if (ended.has(group)) continue;
    const run = runs.get(group);
    if (!isFailedMark(one.mark)) {
      ended.add(group);
      if (run) run.lastGood = one;
    } else if (run) run.failures.push(one);
    else runs.set(group, { failures: [one], lastGood: undefined });
  }
  return [...runs.values()].flatMap(({ failures, lastGood }) => runOf(invocations, failures, lastGood, false) ?? []);
}

function runOf(
  invocations: Invocations,
  failures: MarkedPlace[],
  lastGood: MarkedPlace | undefined,
  isOver: boolean,
): FailureRun | undefined {
  const read = (place: MarkedPlace | undefined) => place && invocations.at(place.seq)?.item;
  const [newest, first] = [read(failures[0]), read(failures.at(-1))];
  // Undefined for none, or where the file of one is damaged.
  return newest && first && { lambdaId: newest.lambdaId, newest, first, failures, lastGood: read(lastGood), isOver };
}

/** The failures that no replay has made good, oldest first: what is still lost. */
export function stillLost(invocations: Invocations, { failures }: FailureRun): MarkedPlace[] {
  const madeGood = new Set<number | undefined>();
  for (const { seq, mark } of invocations.marks(MAX_LOOKED)) {
    if (!isReplayMark(mark) || isFailedMark(mark)) continue;
    const replayOf = invocations.at(seq)?.item.replayOf;
    if (replayOf !== undefined) madeGood.add(invocations.placeOf(replayOf));
  }
  // A replay that failed again is no second loss.
  return failures.filter(({ seq, mark }) => !isReplayMark(mark) && !madeGood.has(seq)).reverse();
}

/** What went wrong, in words that stand after the lambda's name. @param crmSaid what the CRM told the sender of a form */
export function failureText({ outcome, outbound }: WholeInvocation, crmSaid: string | undefined): string {
  if (crmSaid !== undefined) return `the CRM refused this form: ${crmSaid}`;
  if (!outcome.ok) return outcome.message;
  const [call] = failedCalls(outbound);
  if (!call) return 'a call that it made came to nothing';
  const host = URL.canParse(call.url) ? new URL(call.url).host : call.url;
  return `${call.method} to ${host} ${call.error === undefined ? `was answered ${call.status}` : `failed: ${call.error}`}`;
}
