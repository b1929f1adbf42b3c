import type { Router } from 'express';
import { type FailureReplayed, failureRows, type ShownFailure } from '../contract/recorded.ts';
import { shownCommit } from '../history/history-routes.ts';
import type { TimeMachine } from '../history/time-machine.ts';
import { type Eyes, eyesOf } from '../http/eyes.ts';
import { demandRoot, type Gate, type Handlers, serve } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import type { Caller } from '../model/caller.ts';
import type { Commit } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { Invocation, LambdaInvoker } from '../model/invocation.ts';
import { timeOf } from '../model/iso-time.ts';
import { pathOf } from '../model/resource-path.ts';
import type { WorldView } from '../model/world-view.ts';
import { type FailureRun, failureRunOf, failureText, presentFailureRuns, stillLost } from './failure-runs.ts';
import type { Happenings } from './happenings.ts';
import type { RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { getInvocation, invocationFinder } from './recorder-routes.ts';
import { replay } from './replay.ts';
import { commitText, knownSuspects } from './suspects.ts';

/** So many lambdas that fail are told of. */
const MAX_RUNS = 20;
/** So many things that happened are told of beside a failure. */
const MAX_HAPPENINGS = 5;
/** So many changes are told of. */
const MAX_MARKS = 100;
/** So many at a time: a lambda has ten processes. */
const AT_A_TIME = 5;

export interface FailureRoutesOptions {
  recorder: Recorder;
  happenings: Happenings;
  view: WorldView;
  machine: TimeMachine;
  invoker: LambdaInvoker;
  /** What the CRM told the sender of a form that it refused, if this invocation sent one. */
  refusalOf(executionId: Uuid): string | undefined;
}

/**
 * Why something fails, and the way back. A failure is a run of invocations of one lambda that came to nothing, each after the other;
 * it is named by the id of any of them.
 */
export function failureRoutes(options: FailureRoutesOptions, gate: Gate): Router {
  const { recorder, machine, view } = options;
  const { invocations } = recorder;
  const getRun = (id: string): FailureRun => {
    const found = getInvocation(recorder, id);
    const run = failureRunOf(invocations, found);
    if (!run) throw new PlatformError(404, `invocation ${found.item.executionId} did not fail, and no call of it did`);
    return run;
  };
  const find = knownSuspects(machine.store.history, view);
  const handlers: Handlers<typeof failureRows> = {
    async listFailures({ caller }) {
      const eyes = eyesOf(gate, caller);
      const runs = presentFailureRuns(invocations).filter(({ lambdaId }) => eyes.sees(lambdaId));
      return { failures: await Promise.all(runs.slice(0, MAX_RUNS).map((run) => shownRun(options, find, run, eyes))) };
    },
    async listMarks({ caller, query: { from = 0 } }) {
      const { seesAll, sees } = eyesOf(gate, caller);
      const isSeen = ({ resources }: Commit) => seesAll || resources.every(({ id }) => sees(id));
      const commits: Commit[] = [];
      for await (const commit of machine.store.history.commits()) {
        if (commit.atMs < from || commits.length === MAX_MARKS) break;
        if (isSeen(commit)) commits.push(commit);
      }
      const marks = [
        ...commits.map((commit) => ({ ...commit, kind: 'commit' as const, text: commitText(commit) })),
        ...(seesAll ? options.happenings.since(from) : []).map((one) => ({ ...one, seq: undefined })),
      ].sort((one, other) => other.atMs - one.atMs);
      return {
        marks: marks.slice(0, MAX_MARKS).map(({ atMs, kind, text, seq }) => ({
          at: timeOf(atMs),
          kind,
          text,
          ...(seq !== undefined && { seq }),
        })),
      };
    },
    readFailure({ caller, path }) {
      const eyes = eyesOf(gate, caller);
      const { item } = getInvocation(recorder, path.execution_id);
      if (!eyes.sees(item.lambdaId))
        throw new PlatformError(404, `invocation ${item.executionId} is not yours to view`);
      return shownRun(options, find, getRun(path.execution_id), eyes);
    },
    async replayFailure({ caller, path, body: { revert, most, skip }, req }) {
      const run = getRun(path.execution_id);
      if (revert !== undefined) demandRoot(caller);
      const commit = revert === undefined ? undefined : await machine.revert(revert, { caller, via: viaOf(req) });
      const lost = stillLost(invocations, run).flatMap(({ seq }) => invocations.at(seq)?.item ?? []);
      const kept = lost.filter((item) => recorder.isReplayable(item));
      const wanted = kept.slice(skip);
      const replayed = await replayAll(options, wanted.slice(0, most), caller, req.headers.authorization ?? '');
      return {
        ...(commit && { commit: { ...shownCommit(commit) } }),
        replayed: replayed.length,
        good: replayed.filter(({ isGood }) => isGood).length,
        notKept: lost.length - kept.length,
        left: wanted.length - replayed.length,
        invocations: replayed,
      };
    },
  };
  return serve(failureRows, gate, handlers, { execution_id: invocationFinder(recorder, view) });
}

/** Each with the invocation that came of it, in the order in which they were first made. */
async function replayAll(
  options: FailureRoutesOptions,
  items: readonly RecordedInvocation[],
  caller: Caller,
  creds: string,
): Promise<FailureReplayed['invocations']> {
  const done: FailureReplayed['invocations'] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME) {
    const some = items.slice(at, at + AT_A_TIME);
    const made = await Promise.all(
      some.map(async (item) => {
        const invocation = await replay(options, options.recorder.whole(item), { caller, creds });
        return { executionId: invocation.executionId, replayOf: item.executionId, isGood: wentWell(invocation) };
      }),
    );
    done.push(...made);
  }
  return done;
}

function wentWell({ outcome, outbound }: Invocation): boolean {
  return outcome.ok && failedCalls(outbound).length === 0;
}

async function shownRun(
  { recorder, happenings, view, machine, refusalOf }: FailureRoutesOptions,
  find: ReturnType<typeof knownSuspects>,
  run: FailureRun,
  { seesAll, sees }: Eyes,
): Promise<ShownFailure> {
  const { newest, first, failures, lastGood, isOver, lambdaId } = run;
  const lambda = view.find(lambdaId);
  const crmSaid = refusalOf(newest.executionId);
  const whole = recorder.whole(newest);
  const text = failureText(whole, crmSaid);
  const [fromMs, untilMs] = [lastGood?.acceptedAtMs, first.acceptedAtMs];
  const { seq: newestSeq } = machine.store;
  const { suspects, historyFromMs } = await find({ lambdaId, fromMs, untilMs, text, newestSeq });
  const rule = whole.outcome.ok ? failedCalls(whole.outbound)[0]?.rules?.at(-1) : undefined;
  return {
    lambdaId,
    lambdaName: newest.lambdaName,
    ...(lambda && { lambdaPath: pathOf(lambda, (id) => view.find(id)) }),
    kind: crmSaid !== undefined ? 'form' : newest.outcome.ok ? 'call' : 'invocation',
    text,
    count: failures.length,
    lost: stillLost(recorder.invocations, run).length,
    since: timeOf(first.acceptedAtMs),
    newest: newest.executionId,
    first: first.executionId,
    isOver,
    ...(lastGood && { lastGood: { executionId: lastGood.executionId, at: timeOf(lastGood.acceptedAtMs) } }),
    suspects: suspects
      .filter(({ resource }) => sees(resource.id))
      .map(({ commit: { seq, atMs, cause }, resource, deeds }) => ({
        seq,
        at: timeOf(atMs),
        by: cause.actor?.name ?? 'the platform',
        via: cause.via,
        resource: { ...resource },
        deeds,
      })),
    ...(rule && { rule: { ...rule } }),
    happenings: (seesAll ? happenings.since(fromMs ?? 0) : [])
      .filter(({ atMs }) => atMs <= untilMs)
      .slice(0, MAX_HAPPENINGS)
      .map(({ atMs, kind, text }) => ({ at: timeOf(atMs), kind, text })),
    ...(historyFromMs !== undefined && { historyFrom: timeOf(historyFromMs) }),
  };
}
