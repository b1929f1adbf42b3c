import type { Router } from 'express';
import { type FailureReplayed, failureRows, type ShownFailure } from '../contract/recorded.ts';
import { shownCommit } from '../history/history-routes.ts';
import type { TimeMachine } from '../history/time-machine.ts';
import { demandRoot, type Gate, type Handlers, serve, targetOf } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { Invocation, LambdaInvoker } from '../model/invocation.ts';
import { pathOf } from '../model/resource-path.ts';
import type { WorldView } from '../model/world-view.ts';
import { type FailureRun, failureRunOf, failureText, presentFailureRuns, stillLost } from './failure-runs.ts';
import type { RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { getInvocation } from './recorder-routes.ts';
import { replay } from './replay.ts';
import { suspectsOf } from './suspects.ts';

/** So many lambdas that fail are told of. */
const MAX_RUNS = 20;
/** So many are replayed by one request; the rest by the next. */
const MAX_REPLAYS = 500;
/** So many at a time: a lambda has ten processes. */
const AT_A_TIME = 5;

export interface FailureRoutesOptions {
  recorder: Recorder;
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
  const handlers: Handlers<typeof failureRows> = {
    async listFailures() {
      const runs = presentFailureRuns(invocations).slice(0, MAX_RUNS);
      return { failures: await Promise.all(runs.map((run) => shownRun(options, run))) };
    },
    readFailure: ({ path }) => shownRun(options, getRun(path.execution_id)),
    async replayFailure({ caller, path, body: { revert }, req }) {
      const run = getRun(path.execution_id);
      if (revert !== undefined) demandRoot(caller);
      const commit = revert === undefined ? undefined : await machine.revert(revert, { caller, via: viaOf(req) });
      const lost = stillLost(invocations, run).flatMap(({ seq }) => invocations.at(seq)?.item ?? []);
      const wanted = lost.filter((item) => recorder.isReplayable(item));
      const replayed = await replayAll(options, wanted.slice(0, MAX_REPLAYS), caller, req.headers.authorization ?? '');
      return {
        ...(commit && { commit: { ...shownCommit(commit) } }),
        replayed: replayed.length,
        good: replayed.filter(({ isGood }) => isGood).length,
        notKept: lost.length - wanted.length,
        left: wanted.length - replayed.length,
        invocations: replayed,
      };
    },
  };
  return serve(failureRows, gate, handlers, {
    execution_id: (id) => targetOf({ view }, getRun(id).lambdaId, ['lambdas']),
  });
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
  { recorder, view, machine, refusalOf }: FailureRoutesOptions,
  run: FailureRun,
): Promise<ShownFailure> {
  const { newest, first, failures, lastGood, isOver, lambdaId } = run;
  const lambda = view.find(lambdaId);
  const crmSaid = refusalOf(newest.executionId);
  const text = failureText(recorder.whole(newest), crmSaid);
  const suspects = await suspectsOf(machine.store.history, view, {
    lambdaId,
    fromMs: lastGood?.acceptedAtMs,
    untilMs: first.acceptedAtMs,
    text,
  });
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
    suspects: suspects.map(({ commit: { seq, atMs, cause }, resource, deeds }) => ({
      seq,
      at: timeOf(atMs),
      by: cause.actor?.name ?? 'the platform',
      via: cause.via,
      resource: { ...resource },
      deeds,
    })),
  };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
