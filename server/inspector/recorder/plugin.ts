import { plugin } from '../../plugin/plugin.ts';
import {
  deploymentRecorded,
  exchangeEnded,
  invocationEnded,
  invocationStarted,
  outboundRulesChanged,
} from '../../plugin/tokens.ts';
import { engineChanged } from '../../runtimes/containers/plugin.ts';
import { keptLines } from '../../runtimes/lambdas/plugin.ts';
import { recordedCalls } from '../../services/publish/plugin.ts';
import { RecordLogs } from '../../storage/records/record-logs.ts';
import { clockFrom } from '../../system/clock.ts';
import { ActivityLog } from './activity-log.ts';
import { recorder as declaration } from './declaration.ts';
import { KeptLines } from './kept-lines.ts';
import { isFailedMark } from './recorded-invocation.ts';
import { Recorder } from './recorder.ts';

/** The first requests need no records of earlier runs. */
const INDEX_AFTER_MS = 1_000;

/** Records what happens, in memory and in the data folder. */
export const recorderPlugin = plugin({
  declaration,
  async start(platform) {
    const { config, store, folder, nowMs, steadyMs } = platform;
    const { keep, ...bounds } = config.records;
    const files = folder !== undefined && keep === 'disk' ? store.files : undefined;
    // Their age: setting the clock ahead removes no records.
    const ageClock = clockFrom(nowMs(), steadyMs);
    const records = new RecordLogs({ ...bounds, files, nowMs: ageClock, onWarning: platform.warn });
    const recorder = new Recorder(records, keep !== 'nothing');
    const activity = new ActivityLog(records, nowMs, () => platform.publish('history', {}));
    const lines = new KeptLines(records, keep !== 'nothing');
    await records.open();
    let indexing: NodeJS.Timeout | undefined;
    platform.onReady(() => {
      indexing = setTimeout(() => void records.index(), INDEX_AFTER_MS).unref();
    });
    platform.onStop(() => {
      clearTimeout(indexing);
      return records.stop();
    });
    platform.failure(() => records.failure);
    platform.fill(keptLines, lines);
    platform.fill(recordedCalls, callsOf(recorder));
    platform.on(exchangeEnded, (exchange) => {
      recorder.addExchange(exchange);
      platform.publish('traffic');
    });
    platform.on(invocationStarted, (invocation) => {
      recorder.running.push(invocation);
      platform.publish('invocations');
    });
    platform.on(invocationEnded, ({ invocation, call }) => {
      recorder.addInvocation(invocation, call);
      platform.publish('invocations');
    });
    platform.on(outboundRulesChanged, ({ before, after }) => activity.sawRules(before, after));
    platform.on(engineChanged, (engine) => activity.sawEngine(engine));
    platform.on(deploymentRecorded, ({ run, deployment }) =>
      activity.sawDeployment(run.project.path, run.branch, deployment),
    );
    return { recorder, records, activity, lines, savedRequests: platform.logs['saved-requests'] };
  },
});

/** Counts the calls of a lambda. A failed call that succeeded when it was replayed does not count as failed. */
function callsOf({ invocations }: Recorder) {
  return {
    /** @param sinceMs epoch milliseconds */
    since(lambdaId: string, sinceMs: number): { calls: number; failed: number } {
      const group = invocations.groupOf(lambdaId);
      const repaired = new Set<string>();
      let [calls, failed] = [0, 0];
      for (const entry of invocations.marks()) {
        if (entry.group !== group) continue;
        const invocation = invocations.at(entry.seq)?.item;
        if (!invocation || Date.parse(invocation.acceptedAt) < sinceMs) break;
        calls += 1;
        if (!isFailedMark(entry.mark)) {
          if (invocation.replayOf !== undefined) repaired.add(invocation.replayOf);
        } else if (repaired.has(invocation.executionId)) {
          // Also what this replay was the replay of.
          if (invocation.replayOf !== undefined) repaired.add(invocation.replayOf);
        } else if (!repaired.has(invocation.replayOf ?? '')) failed += 1;
      }
      return { calls, failed };
    },
  };
}
