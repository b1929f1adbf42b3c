import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { reasonOf } from '../../model/errors.ts';
import { monotonicMs } from '../../system/clock.ts';
import type { FailedCheck, Instance } from './engine.ts';
import type { Probe } from './plan.ts';
import type { PortCheck } from './port-check.ts';

/** Interval of checks until an instance is healthy for the first time, shorter than the regular interval. */
const FIRST_INTERVAL_MS = 250;
/** Timers are not exact. */
const INTERVAL_TOLERANCE = 0.9;

export interface Health {
  /** Undefined until it is healthy for the first time, or has failed too often. */
  verdict: 'healthy' | 'unhealthy' | undefined;
  failedCheck: FailedCheck | undefined;
}

/** Checks one instance through its published ports until the returned function is called. Failures within the grace period do not count (D-045). */
export function probeHealth(
  instance: Instance,
  probes: readonly Probe[],
  { nowMs, ports, onCheck }: { nowMs(): number; ports: PortCheck; onCheck(health: Health): void },
): () => void {
  // The engine's time of the start is compared with the wall clock once, because that may be set afterwards.
  const ranMs = Math.max(0, nowMs() - (instance.startedAtMs ?? nowMs()));
  const startedMs = monotonicMs() - ranMs;
  const intervalMs = Math.min(...probes.map((probe) => probe.intervalMs));
  const failures = new Map<Probe, { count: number; countedMs: number; sinceMs: number }>();
  let verdict: Health['verdict'];
  let isOver = false;
  /** Failures count once an interval, however often is looked, and not within the grace period. */
  const count = (probe: Probe, isWell: boolean) => {
    if (isWell) {
      failures.delete(probe);
      return;
    }
    const first = { count: 0, countedMs: Number.NEGATIVE_INFINITY, sinceMs: nowMs() };
    const before = failures.get(probe) ?? first;
    const isExcused = verdict === undefined && monotonicMs() - startedMs < probe.graceMs;
    const isCounted = !isExcused && monotonicMs() - before.countedMs >= probe.intervalMs * INTERVAL_TOLERANCE;
    failures.set(probe, isCounted ? { ...before, count: before.count + 1, countedMs: monotonicMs() } : before);
  };
  const check = async () => {
    const results = await Promise.all(
      probes.map(async (probe) => [probe, await failureOf(instance, probe, ports)] as const),
    );
    if (isOver) return;
    for (const [probe, failure] of results) count(probe, failure === undefined);
    const failed = results.find(([, failure]) => failure !== undefined);
    if (!failed) verdict = 'healthy';
    else if (probes.some((probe) => (failures.get(probe)?.count ?? 0) >= probe.failures)) verdict = 'unhealthy';
    const failedCheck = failed && {
      check: describeProbe(failed[0]),
      result: failed[1] ?? '',
      sinceMs: failures.get(failed[0])?.sinceMs ?? nowMs(),
    };
    onCheck({ verdict, failedCheck });
    const nextMs = verdict === undefined ? Math.min(FIRST_INTERVAL_MS, intervalMs) : intervalMs;
    timer = setTimeout(checkSafely, nextMs).unref();
  };
  // Checks end with an error of this program, and nothing else does.
  const checkSafely = () => {
    check().catch((fault: unknown) => {
      const failedCheck = { check: 'health check', result: reasonOf(fault), sinceMs: nowMs() };
      onCheck({ verdict: 'unhealthy', failedCheck });
    });
  };
  let timer = setTimeout(checkSafely, 0);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function describeProbe({ protocol, path, containerPort }: Probe): string {
  return `${protocol} check of ${protocol === 'TCP' ? '' : `${path} on `}port ${containerPort}`;
}

/** The reason why a check fails; undefined if it passes. */
async function failureOf(instance: Instance, probe: Probe, ports: PortCheck): Promise<string | undefined> {
  const address = instance.addresses.find(({ containerPort }) => containerPort === probe.containerPort);
  if (!address) return 'the port is not published';
  if (probe.protocol !== 'TCP') return failureOfRequest(address, probe);
  const isOpen = await ports.opens(instance, probe.containerPort, probe.timeoutMs);
  return isOpen ? undefined : 'nothing accepts connections';
}

function failureOfRequest(
  { host, port }: { host: string; port: number },
  { protocol, path, timeoutMs }: Probe,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Bytes that cannot be part of a request line are encoded as browsers do.
    const encodedPath = path.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
    const options = { host, port, path: encodedPath, timeout: timeoutMs, agent: false, rejectUnauthorized: false };
    const request = (protocol === 'HTTPS' ? requestHttps : requestHttp)(options, (response) => {
      const { statusCode = 0 } = response;
      response.destroy();
      resolve(statusCode >= 200 && statusCode < 400 ? undefined : `status ${statusCode}`);
    });
    request.once('timeout', () => {
      resolve(`no response within ${timeoutMs / 1_000} s`);
      request.destroy();
    });
    // Later ones, too: an error without a listener ends the process.
    request.on('error', (failure) => resolve(wordsOf(failure)));
    request.end();
  });
}

/** Errors of OpenSSL contain lines and files of its sources. */
function wordsOf({ message }: Error): string {
  const [, reason] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return reason === undefined ? message : `no TLS connection (${reason})`;
}
