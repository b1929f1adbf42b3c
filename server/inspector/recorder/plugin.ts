import { plugin } from '../../plugin/plugin.ts';
import {
  counted,
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
import { ActivityLog } from './activity-log.ts';
import { ActivityMeter } from './activity-meter.ts';
import { recorder as declaration } from './declaration.ts';
import { EndpointActivity } from './endpoint-activity.ts';
import { KeptLines } from './kept-lines.ts';
import { isFailedMark } from './recorded-invocation.ts';
import { Recorder } from './recorder.ts';

/** Records what happens, in memory and in the data folder. */
export const recorderPlugin = plugin({
  declaration,
  async start(platform) {
    const { config, store, folder, nowMs } = platform;
    const { keep, ...bounds } = config.records;
    const files = folder !== undefined && keep === 'disk' ? store.files : undefined;
    const records = new RecordLogs({ ...bounds, files, nowMs, onWarning: platform.warn });
    const recorder = new Recorder(records, keep !== 'nothing');
    const activity = new ActivityLog(records, nowMs, () => platform.publish('history', {}));
    const lines = new KeptLines(records, keep !== 'nothing');
    await records.open();
    platform.onStop(() => records.stop());
    platform.failure(() => records.failure);
    const meter = new ActivityMeter(nowMs);
    const endpoints = new EndpointActivity();
    platform.fill(keptLines, lines);
    platform.fill(recordedCalls, callsOf(recorder));
    platform.on(exchangeEnded, (exchange) => {
      meter.sawExchange(exchange, recorder.addExchange(exchange));
      endpoints.sawExchange(exchange);
      platform.publish('traffic');
    });
    platform.on(invocationStarted, (begun) => {
      recorder.begin(begun);
      platform.publish('invocations');
    });
    platform.on(invocationEnded, ({ invocation, call }) => {
      recorder.addInvocation(invocation, call);
      platform.publish('invocations');
    });
    platform.on(counted, ({ subject, fault }) => meter.increment(subject, fault));
    platform.on(outboundRulesChanged, ({ before, after }) => activity.sawRules(before, after));
    platform.on(engineChanged, (engine) => activity.sawEngine(engine));
    platform.on(deploymentRecorded, ({ run, deployment }) =>
      activity.sawDeployment({ project: run.project.path, branch: run.branch, deployment }),
    );
    return { recorder, records, activity, lines, meter, endpoints, savedRequests: platform.logs['saved-requests'] };
  },
});

/** What became of the calls of a lambda since a moment; one that failed and went well when it was replayed does not count as failed. */
function callsOf({ invocations }: Recorder) {
  return {
    /** @param sinceMs epoch milliseconds */
    since(lambdaId: string, sinceMs: number): { calls: number; failed: number } {
      const group = invocations.groupOf(lambdaId);
      const repaired = new Set<string>();
      let [calls, failed] = [0, 0];
      for (const place of invocations.marks()) {
        if (place.group !== group) continue;
        const one = invocations.at(place.seq)?.item;
        if (!one || Date.parse(one.acceptedAt) < sinceMs) break;
        calls += 1;
        if (!isFailedMark(place.mark)) {
          if (one.replayOf !== undefined) repaired.add(one.replayOf);
        } else if (repaired.has(one.executionId)) {
          // Also what this replay was the replay of.
          if (one.replayOf !== undefined) repaired.add(one.replayOf);
        } else if (!repaired.has(one.replayOf ?? '')) failed += 1;
      }
      return { calls, failed };
    },
  };
}
