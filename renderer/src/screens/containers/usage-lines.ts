import type { UsageSample } from './usage-watch.ts';

/** The usage of one instance over time; each list starts with the oldest value. */
export interface UsageLines {
  instanceId: string;
  /** Percent of a core. */
  cpuPercent: number[];
  memoryBytes: number[];
  memoryLimitBytes: number;
  receivedPerS: number[];
  sentPerS: number[];
}

/** The samples of a container as lines, one set for each instance that the newest sample has. */
export function usageLines(samples: readonly UsageSample[]): UsageLines[] {
  const newest = samples.at(-1)?.instances ?? [];
  return newest.map(({ instanceId, memoryLimitBytes }) => {
    const instanceSamples = samples.flatMap(({ atMs, instances }) =>
      instances.filter((usage) => usage.instanceId === instanceId).map((usage) => ({ ...usage, atMs })),
    );
    return {
      instanceId,
      memoryLimitBytes,
      cpuPercent: instanceSamples.map(({ cpus }) => Math.round(cpus * 1000) / 10),
      memoryBytes: instanceSamples.map(({ memoryBytes }) => memoryBytes),
      receivedPerS: ratesOf(instanceSamples.map(({ atMs, receivedBytes }) => ({ atMs, bytes: receivedBytes }))),
      sentPerS: ratesOf(instanceSamples.map(({ atMs, sentBytes }) => ({ atMs, bytes: sentBytes }))),
    };
  });
}

/** Bytes a second between samples; one fewer than there are. */
function ratesOf(totals: readonly { atMs: number; bytes: number }[]): number[] {
  return totals.slice(1).map(({ atMs, bytes }, index) => {
    const before = totals[index];
    const passedS = before ? (atMs - before.atMs) / 1000 : 0;
    return before && passedS > 0 ? Math.max(0, Math.round((bytes - before.bytes) / passedS)) : 0;
  });
}
