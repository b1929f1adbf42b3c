import express, { type Router } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-body.ts';
import { viaOf } from '../http/via.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { Invocation, LambdaInvoker } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import { pathOf } from '../model/resource-path.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';
import { type FailureRun, failureRunOf, failureText, presentFailureRuns, stillLost } from './failure-runs.ts';
import { shownCommit, type WorldGuard } from './history-routes.ts';
import type { LambdaRoutesOptions } from './lambda-routes.ts';
import type { RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';
import { suspectsOf } from './suspects.ts';
import type { TimeMachine } from './time-machine.ts';

/** So many lambdas that fail are told of. */
const MAX_RUNS = 20;
/** So many are replayed by one request; the rest by the next. */
const MAX_REPLAYS = 500;
/** So many at a time: a lambda has ten processes. */
const AT_A_TIME = 5;

const replayWish = z.strictObject({ revert: z.int().min(1).optional() });

export interface FailureRoutesOptions {
  recorder: Recorder;
  view: WorldView;
  machine: TimeMachine;
  guard: WorldGuard;
  invoker: LambdaInvoker;
  target: LambdaRoutesOptions['target'];
  /** What the CRM told the sender of a form that it refused, if this invocation sent one. */
  refusalOf(executionId: Uuid): string | undefined;
}

/**
 * Why something fails, and the way back. A failure is a run of invocations of one lambda that came to nothing, each after the other;
 * it is named by the id of any of them.
 *
 * - `GET /failures`: `{failures}`, of every lambda whose newest invocation came to nothing.
 * - `GET /failures/{execution id}`: the one that an invocation belongs to: what went wrong, since when, how often, what of it is still
 *   lost, and which changes came just before, the likeliest first. 404 for an invocation that went well.
 * - `POST /failures/{execution id}/replay` `{revert?}`: undoes that commit first, if one is named (root only), then replays what is
 *   still lost, the oldest first, as the one who asks: `{commit?, replayed, good, notKept, left, invocations}`.
 */
export function failureRoutes(options: FailureRoutesOptions): Router {
  const { recorder, guard, machine, target } = options;
  const { invocations } = recorder;
  const getRun = (id: string): FailureRun => {
    const found = invocations.find(id.toLowerCase());
    if (!found) {
      throw new PlatformError(404, `invocation '${id.slice(0, 64)}' is not among the newest ${invocations.maxItems}`);
    }
    const run = failureRunOf(invocations, found);
    if (!run) throw new PlatformError(404, `invocation ${found.item.executionId} did not fail, and no call of it did`);
    return run;
  };

  const router = express.Router({ caseSensitive: true });
  router.get('/failures', async (req, res) => {
    guard.viewer(req);
    const runs = presentFailureRuns(invocations).slice(0, MAX_RUNS);
    res.json({ failures: await Promise.all(runs.map((run) => shownRun(options, run))) });
  });
  router.get('/failures/:id', async (req, res) => {
    guard.viewer(req);
    res.json(await shownRun(options, getRun(req.params.id)));
  });
  router.post('/failures/:id/replay', async (req, res) => {
    guard.viewer(req);
    const run = getRun(String(req.params.id));
    const { caller } = target(req, 'invoke', ['lambdas'], run.lambdaId);
    const { revert } = parseWith(replayWish, (await readJson(req)) ?? {}, '');
    const commit =
      revert === undefined ? undefined : await machine.revert(revert, { caller: guard.root(req), via: viaOf(req) });
    const lost = stillLost(invocations, run).flatMap(({ seq }) => invocations.at(seq)?.item ?? []);
    const wanted = lost.filter((item) => recorder.isReplayable(item));
    const replayed = await replayAll(options, wanted.slice(0, MAX_REPLAYS), caller, req.headers.authorization ?? '');
    res.json({
      ...(commit && { commit: shownCommit(commit) }),
      replayed: replayed.length,
      good: replayed.filter(({ isGood }) => isGood).length,
      notKept: lost.length - wanted.length,
      left: wanted.length - replayed.length,
      invocations: replayed,
    });
  });
  return router;
}

/** Each with the invocation that came of it, in the order in which they were first made. */
async function replayAll(
  options: FailureRoutesOptions,
  items: readonly RecordedInvocation[],
  caller: Caller,
  creds: string,
): Promise<{ executionId: Uuid; replayOf: Uuid; isGood: boolean }[]> {
  const done: { executionId: Uuid; replayOf: Uuid; isGood: boolean }[] = [];
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
): Promise<JsonObject> {
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
