import { failedCalls } from '../../model/failed-call.ts';
import type { Uuid } from '../../model/record.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { MarkedPlace, Placed, RecordLog } from '../../storage/records/record-log.ts';
import { bodyAt } from './recorded-bodies.ts';
import { detailsOf, faultOfCall, isFailedMark, isReplayMark, type RecordedInvocation } from './recorded-invocation.ts';

/** Failures continue a run that is over if fewer invocations succeeded in between: it fails now and then. */
const MIN_SUCCEEDED = 3;

type Invocations = RecordLog<RecordedInvocation>;

/** Invocations of one lambda that failed for one reason, until as many in a row succeeded. */
export interface FailureRun {
  lambdaId: Uuid;
  newest: RecordedInvocation;
  first: RecordedInvocation;
  /** Their places, oldest first. */
  failures: readonly number[];
  /** Invocations of the lambda that succeeded since the first of them. */
  succeeded: number;
  /** Last success before the first failure; undefined if none is recorded. */
  lastGood: RecordedInvocation | undefined;
  isOver: boolean;
}

interface Run extends Pick<FailureRun, 'succeeded' | 'isOver'> {
  failures: number[];
  lastGood: number | undefined;
  /** Since its newest failure. */
  inARow: number;
}

/** The failing run that an invocation belongs to; undefined if the invocation and its calls succeeded. */
export function failureRunOf(
  invocations: Invocations,
  { seq, item }: Placed<RecordedInvocation>,
): FailureRun | undefined {
  const runs = runsOf(invocations, { seq, group: invocations.groupOf(item.lambdaId) });
  const run = runs.find(({ failures }) => failures.includes(seq));
  return run && toRun(invocations, run);
}

/** The open runs, oldest first. The order does not change when others start. */
export function toFailureRunsView(invocations: Invocations): FailureRun[] {
  const runs = runsOf(invocations).filter(({ isOver }) => !isOver);
  // A run is repaired when all lost invocations have been replayed and the newest one succeeds.
  const isRepaired = (run: FailureRun) => run.succeeded > 0 && unrepairedFailures(invocations, run).length === 0;
  return runs.flatMap((run) => toRun(invocations, run) ?? []).filter((run) => !isRepaired(run));
}

/** @param selection only runs of this group, also if they are over */
function runsOf(invocations: Invocations, selection?: Pick<MarkedPlace, 'seq' | 'group'>): Run[] {
  const runs: Run[] = [];
  const groups = new Map<number, { lastGood: number | undefined; byCause: Map<number, Run> }>();
  for (const { seq, group, mark, cause } of invocations.marksForward()) {
    if (selection && group !== selection.group) continue;
    const groupRuns = groups.get(group) ?? { lastGood: undefined, byCause: new Map<number, Run>() };
    groups.set(group, groupRuns);
    if (!isFailedMark(mark)) {
      groupRuns.lastGood = seq;
      for (const [cause, run] of groupRuns.byCause) {
        run.succeeded += 1;
        run.inARow += 1;
        run.isOver ||= run.inARow >= run.failures.length;
        if (run.isOver && run.inARow >= MIN_SUCCEEDED) groupRuns.byCause.delete(cause);
      }
      continue;
    }
    const before = groupRuns.byCause.get(cause);
    const run = before ?? { failures: [], lastGood: groupRuns.lastGood, succeeded: 0, inARow: 0, isOver: false };
    if (!before) {
      groupRuns.byCause.set(cause, run);
      runs.push(run);
    }
    run.failures.push(seq);
    run.inARow = 0;
    run.isOver = false;
  }
  return runs;
}

function toRun(invocations: Invocations, { inARow, lastGood, ...run }: Run): FailureRun | undefined {
  const read = (seq: number | undefined) => (seq === undefined ? undefined : invocations.at(seq)?.item);
  const [newest, first] = [read(run.failures.at(-1)), read(run.failures[0])];
  // Undefined where the file of one is damaged.
  return newest && first && { ...run, lambdaId: newest.lambdaId, newest, first, lastGood: read(lastGood) };
}

/** Positions of failures that no replay has repaired, oldest first. */
export function unrepairedFailures(invocations: Invocations, { failures }: Pick<FailureRun, 'failures'>): number[] {
  const madeGood = new Set<number | undefined>();
  for (const { seq, mark } of invocations.marks()) {
    if (!isReplayMark(mark) || isFailedMark(mark)) continue;
    // Also what a replay was the replay of.
    for (let at: number | undefined = seq; at !== undefined; ) {
      const replayOf: Uuid | undefined = invocations.at(at)?.item.replayOf;
      at = replayOf === undefined ? undefined : invocations.placeOf(replayOf);
      madeGood.add(at);
    }
  }
  // A replay that failed again is no second loss.
  return failures.filter((seq) => !isReplayMark(invocations.markAt(seq)) && !madeGood.has(seq));
}

/** Returns true if the lambda failed with the error of `JSON.parse` for its own event. */
export function isInputInvalid(bodies: ByteLog, invocation: RecordedInvocation): boolean {
  const { message } = invocation.outcome;
  // All messages of `JSON.parse` contain this word. Without it, the event does not have to be read.
  if (message === undefined || !message.includes('JSON')) return false;
  const event = bodyAt(bodies, invocation.event);
  if (event === undefined || event.bytes.length < event.sizeBytes) return false;
  try {
    JSON.parse(Buffer.from(event.bytes).toString());
    return false;
  } catch (error) {
    return message.includes((error as SyntaxError).message);
  }
}

/** The failure, as text after the lambda's name. @param crmMessage the CRM's message to the sender of a form */
export function failureText(bodies: ByteLog, invocation: RecordedInvocation, crmMessage: string | undefined): string {
  if (crmMessage !== undefined) return `the CRM rejected this form: ${crmMessage}`;
  const details = detailsOf(bodies, invocation);
  if (isInputInvalid(bodies, invocation)) return `the request body is not valid JSON: ${invocation.outcome.message}`;
  if (!invocation.outcome.ok) return details?.message ?? invocation.outcome.message ?? '';
  const [call] = failedCalls(details?.outbound ?? []);
  return call ? faultOfCall(call) : 'an outbound call failed';
}
