import type { Router } from 'express';
import { type FailureReplayed, type FailureView, failureRoutes } from '../../api/routes/recorded.ts';
import { changeSourceOf } from '../../api/server/authenticate.ts';
import { type Handlers, mountRoutes, type RouteGuard, requireRoot } from '../../api/server/mount-routes.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import type { Commit } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { failedCalls } from '../../model/failed-call.ts';
import { timeOf } from '../../model/iso-time.ts';
import { describeRule, type OutboundRule } from '../../model/outbound-rule.ts';
import type { WorldView } from '../../model/record.ts';
import { pathOf } from '../../model/resource-path.ts';
import { commitSentence } from '../../model/rules/commit-sentence.ts';
import { toCommitView } from '../../services/history/history-routes.ts';
import { revertState } from '../../storage/world/revert.ts';
import {
  type FailureRun,
  failureRunOf,
  failureText,
  isInputInvalid,
  toFailureRunsView,
  unrepairedFailures,
} from './failure-runs.ts';
import { createsResources, type LikelyCauses, likelyCausesFinder } from './likely-causes.ts';
import { failedCallOf, type RecordedInvocation } from './recorded-invocation.ts';
import { getInvocation, invocationFinder, type RecordedData } from './recorder-routes.ts';
import { replay } from './replay.ts';

const MAX_RUNS = 20;
const MAX_HAPPENINGS = 5;
const MAX_MARKS = 10_000;
const NO_CAUSES: LikelyCauses = { likelyCauses: [], historyFromMs: undefined };
/** Number of replays that run at the same time: a lambda has ten processes. */
const AT_A_TIME = 5;

/** A failure is a run of invocations of one lambda that failed for the same reason; the id of any of them names it. */
export function failureRouter(data: RecordedData, guard: RouteGuard): Router {
  const { recorder, historyService, nowMs } = data;
  const { view } = guard;
  const { invocations } = recorder;
  const getRun = (id: string): FailureRun => {
    const found = getInvocation(recorder, id);
    const run = failureRunOf(invocations, found);
    if (!run)
      throw new PlatformError(
        'not_found',
        `neither invocation ${found.item.executionId} nor any of its outbound calls failed`,
      );
    return run;
  };
  const find = likelyCausesFinder(historyService.store.history, view);
  const handlers: Handlers<typeof failureRoutes> = {
    async listFailures({ caller }) {
      const visibility = visibilityFor(guard, caller);
      const runs = toFailureRunsView(invocations).filter(({ lambdaId }) => visibility.sees(lambdaId));
      return {
        failures: await Promise.all(runs.slice(0, MAX_RUNS).map((run) => toRunView(data, view, find, run, visibility))),
      };
    },
    async listMarks({ caller, query: { from = 0, to = nowMs(), parts } }) {
      const { seesAll, sees } = visibilityFor(guard, caller);
      const isSeen = ({ resources }: Commit) => seesAll || resources.every(({ id }) => sees(id));
      const commits: Commit[] = [];
      for await (const commit of historyService.store.history.commits()) {
        if (commit.atMs < from || commits.length === MAX_MARKS) break;
        if (commit.atMs <= to && isSeen(commit)) commits.push(commit);
      }
      const marks = [
        ...commits.map((commit) => ({ ...commit, kind: 'commit' as const, text: commitSentence(commit) })),
        ...(seesAll ? data.activity.since(from) : []).map((event) => ({ ...event, seq: undefined })),
      ]
        .filter(({ atMs }) => atMs <= to)
        .sort((earlier, other) => other.atMs - earlier.atMs);
      const partOf = ({ atMs }: { atMs: number }) => Math.trunc(((atMs - from) * parts) / Math.max(1, to - from));
      const newest = new Map<number, (typeof marks)[number] & { count: number }>();
      for (const mark of marks) {
        const groupedMark = newest.get(partOf(mark));
        if (groupedMark) groupedMark.count += 1;
        else newest.set(partOf(mark), { ...mark, count: 1 });
      }
      return {
        marks: Array.from(newest.values(), ({ atMs, kind, text, seq, count }) => ({
          ...{ at: timeOf(atMs), kind, text, count },
          ...(seq !== undefined && { seq }),
        })),
        total: marks.length,
        isCut: commits.length === MAX_MARKS,
      };
    },
    readFailure({ caller, path }) {
      const visibility = visibilityFor(guard, caller);
      const { item } = getInvocation(recorder, path.execution_id);
      if (!visibility.sees(item.lambdaId))
        throw new PlatformError('not_found', `you do not have permission to view invocation ${item.executionId}`);
      return toRunView(data, view, find, getRun(path.execution_id), visibility);
    },
    async replayFailure({ caller, path, body: { revert, most, skip }, req }) {
      const run = getRun(path.execution_id);
      if (revert !== undefined) requireRoot(caller);
      const commit =
        revert === undefined ? undefined : await historyService.revert(revert, { caller, via: changeSourceOf(req) });
      const lost = unrepairedFailures(invocations, run).flatMap((seq) => invocations.at(seq)?.item ?? []);
      const replayable = lost.filter((item) => recorder.isReplayable(item));
      const remaining = replayable.slice(skip);
      const replayed = await replayAll(data, remaining.slice(0, most), caller, req.headers.authorization ?? '');
      return {
        ...(commit && { commit: { ...toCommitView(commit) } }),
        replayed: replayed.length,
        good: replayed.filter(({ isGood }) => isGood).length,
        notKept: lost.length - replayable.length,
        left: remaining.length - replayed.length,
        invocations: replayed,
      };
    },
  };
  return mountRoutes(failureRoutes, guard, handlers, { execution_id: invocationFinder(recorder, view) });
}

/** Each with the invocation that came of it, in the order in which they were first made. */
async function replayAll(
  data: RecordedData,
  items: readonly RecordedInvocation[],
  caller: Caller,
  creds: string,
): Promise<FailureReplayed['invocations']> {
  const replayOne = async (item: RecordedInvocation) => {
    const { executionId, outcome, outbound } = await replay(data, item, { caller, creds });
    return { executionId, replayOf: item.executionId, isGood: outcome.ok && failedCalls(outbound).length === 0 };
  };
  const done: FailureReplayed['invocations'] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME)
    done.push(...(await Promise.all(items.slice(at, at + AT_A_TIME).map(replayOne))));
  return done;
}

async function toRunView(
  { recorder, activity, refusalOf, rules }: RecordedData,
  view: WorldView,
  find: ReturnType<typeof likelyCausesFinder>,
  run: FailureRun,
  { seesAll, sees }: Visibility,
): Promise<FailureView> {
  const { newest, first, failures, succeeded, lastGood, isOver, lambdaId } = run;
  const lambda = view.find(lambdaId);
  const crmMessage = refusalOf(newest.executionId);
  const text = failureText(recorder.bodies, newest, crmMessage);
  const [fromMs, untilMs] = [lastGood && Date.parse(lastGood.acceptedAt), Date.parse(first.acceptedAt)];
  const isInvalid = isInputInvalid(recorder.bodies, newest);
  const { likelyCauses, historyFromMs } = isInvalid ? NO_CAUSES : await find({ lambdaId, fromMs, untilMs }, text);
  const rule = failedCallOf(recorder.bodies, newest)?.rules?.at(-1);
  const isSame = (current: OutboundRule) => current.enabled && describeRule(current) === rule?.text;
  const ownRule = rules().find(({ id }) => id === rule?.id);
  // The rules may have been replaced by equal ones with other ids.
  const activeRule = ownRule ? (isSame(ownRule) ? ownRule : undefined) : rules().find(isSame);
  return {
    lambdaId,
    lambdaName: newest.lambdaName,
    ...(lambda && { lambdaPath: pathOf(lambda, (id) => view.find(id)) }),
    kind: crmMessage !== undefined ? 'form' : newest.outcome.ok ? 'call' : 'invocation',
    text,
    isInputInvalid: isInvalid,
    count: failures.length,
    succeeded,
    lost: unrepairedFailures(recorder.invocations, run).length,
    since: first.acceptedAt,
    newest: newest.executionId,
    first: first.executionId,
    isOver,
    ...(lastGood && { lastGood: { executionId: lastGood.executionId, at: lastGood.acceptedAt } }),
    likelyCauses: likelyCauses
      .filter(({ resource }) => sees(resource.id))
      .map((candidate) => ({ ...candidate, state: revertState(candidate.commit, view) }))
      .map(({ commit, resource, changes, state }) => ({
        seq: commit.seq,
        at: timeOf(commit.atMs),
        by: commit.cause.actor?.name ?? 'the platform',
        via: commit.cause.via,
        resource: { ...resource },
        changes,
        others: commit.resources.flatMap(({ id, name }) => (id === resource.id ? [] : sees(id) ? name : 'a resource')),
        // What succeeds since then is not prevented by it.
        isUndoable: lastGood !== undefined && succeeded === 0 && !createsResources(commit) && state === 'undoable',
        isUndone: state === 'undone',
      })),
    ...(rule && { rule: { id: activeRule?.id ?? rule.id, text: rule.text, isEnabled: activeRule !== undefined } }),
    activity: (seesAll && !isInvalid ? activity.since(fromMs ?? 0) : [])
      .filter(({ atMs }) => atMs <= untilMs)
      .slice(0, MAX_HAPPENINGS)
      .map(({ atMs, kind, text }) => ({ at: timeOf(atMs), kind, text })),
    ...(historyFromMs !== undefined && { historyFrom: timeOf(historyFromMs) }),
  };
}
