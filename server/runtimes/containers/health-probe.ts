import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Instance } from './engine.ts';
import type { PortCheck } from './port-check.ts';
import type { Probe } from './workload.ts';

/** Interval of checks until an instance is healthy for the first time, shorter than the regular interval. */
const FIRST_INTERVAL_MS = 250;
/** Timers are not exact. */
const INTERVAL_TOLERANCE = 0.9;

export interface Health {
  /** Undefined until it is healthy for the first time, or has failed too often. */
  verdict: 'healthy' | 'unhealthy' | undefined;
  isFailing: boolean;
}

/** Checks one instance through its published ports until the returned function is called. Failures within the grace period do not count (D-045). */
export function probeHealth(
  instance: Instance,
  probes: readonly Probe[],
  { nowMs, ports, onCheck }: { nowMs(): number; ports: PortCheck; onCheck(health: Health): void },
): () => void {
  const startedAtMs = instance.startedAtMs ?? nowMs();
  const intervalMs = Math.min(...probes.map((probe) => probe.intervalMs));
  const failures = new Map<Probe, { count: number; countedAtMs: number }>();
  let verdict: Health['verdict'];
  let isOver = false;
  /** Failures count once an interval, however often is looked, and not within the grace period. */
  const count = (probe: Probe, isWell: boolean) => {
    const { count, countedAtMs } = failures.get(probe) ?? { count: 0, countedAtMs: Number.NEGATIVE_INFINITY };
    const isExcused = verdict === undefined && nowMs() - startedAtMs < probe.graceMs;
    if (isWell) failures.delete(probe);
    else if (!isExcused && nowMs() - countedAtMs >= probe.intervalMs * INTERVAL_TOLERANCE) {
      failures.set(probe, { count: count + 1, countedAtMs: nowMs() });
    }
  };
  const check = async () => {
    const passed = await Promise.all(
      probes.map(async (probe) => [probe, await passes(instance, probe, ports)] as const),
    );
    if (isOver) return;
    for (const [probe, isWell] of passed) count(probe, isWell);
    const isFailing = passed.some(([, isWell]) => !isWell);
    if (!isFailing) verdict = 'healthy';
    else if (probes.some((probe) => (failures.get(probe)?.count ?? 0) >= probe.failures)) verdict = 'unhealthy';
    onCheck({ verdict, isFailing });
    const nextMs = verdict === undefined ? Math.min(FIRST_INTERVAL_MS, intervalMs) : intervalMs;
    timer = setTimeout(() => void check(), nextMs).unref();
  };
  let timer = setTimeout(() => void check(), 0);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

async function passes(instance: Instance, probe: Probe, ports: PortCheck): Promise<boolean> {
  const address = instance.addresses.find(({ containerPort }) => containerPort === probe.containerPort);
  if (!address) return false;
  return probe.protocol === 'TCP'
    ? ports.opens(instance, probe.containerPort, probe.timeoutMs)
    : answersWell(address, probe);
}

function answersWell(
  { host, port }: { host: string; port: number },
  { protocol, path, timeoutMs }: Probe,
): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host, port, path, timeout: timeoutMs, agent: false, rejectUnauthorized: false };
    const asking = (protocol === 'HTTPS' ? requestHttps : requestHttp)(options, (response) => {
      const { statusCode = 0 } = response;
      response.destroy();
      resolve(statusCode >= 200 && statusCode < 400);
    });
    asking.once('timeout', () => asking.destroy());
    asking.once('error', () => resolve(false));
    asking.end();
  });
}
