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

interface HealthProbeOptions {
  nowMs(): number;
  ports: PortCheck;
  onCheck(health: Health): void;
}

/** Checks one instance through its published ports until it is stopped. Failures within the grace period do not count (D-045). */
export class HealthProbe {
  readonly #instance: Instance;
  readonly #probes: readonly Probe[];
  readonly #onCheck: HealthProbeOptions['onCheck'];
  readonly #nowMs: () => number;
  readonly #ports: PortCheck;
  readonly #startedAtMs: number;
  readonly #failures = new Map<Probe, { count: number; countedAtMs: number }>();
  #verdict: Health['verdict'];
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(instance: Instance, probes: readonly Probe[], { nowMs, ports, onCheck }: HealthProbeOptions) {
    this.#instance = instance;
    this.#probes = probes;
    this.#nowMs = nowMs;
    this.#ports = ports;
    this.#onCheck = onCheck;
    this.#startedAtMs = instance.startedAtMs ?? nowMs();
    this.#timer = setTimeout(() => void this.#check(), 0);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const passed = await Promise.all(this.#probes.map(async (probe) => [probe, await this.#passes(probe)] as const));
    if (this.#isOver) return;
    for (const [probe, isWell] of passed) this.#count(probe, isWell);
    const isFailing = passed.some(([, isWell]) => !isWell);
    if (!isFailing) this.#verdict = 'healthy';
    else if (this.#probes.some((probe) => (this.#failures.get(probe)?.count ?? 0) >= probe.failures))
      this.#verdict = 'unhealthy';
    this.#onCheck({ verdict: this.#verdict, isFailing });
    const intervalMs = Math.min(...this.#probes.map((probe) => probe.intervalMs));
    const nextMs = this.#verdict === undefined ? Math.min(FIRST_INTERVAL_MS, intervalMs) : intervalMs;
    this.#timer = setTimeout(() => void this.#check(), nextMs).unref();
  }

  /** Failures count once an interval, however often is looked, and not within the grace period. */
  #count(probe: Probe, isWell: boolean): void {
    const nowMs = this.#nowMs();
    const { count, countedAtMs } = this.#failures.get(probe) ?? { count: 0, countedAtMs: Number.NEGATIVE_INFINITY };
    const isExcused = this.#verdict === undefined && nowMs - this.#startedAtMs < probe.graceMs;
    if (isWell) this.#failures.delete(probe);
    else if (!isExcused && nowMs - countedAtMs >= probe.intervalMs * INTERVAL_TOLERANCE) {
      this.#failures.set(probe, { count: count + 1, countedAtMs: nowMs });
    }
  }

  async #passes(probe: Probe): Promise<boolean> {
    const address = this.#instance.addresses.find(({ containerPort }) => containerPort === probe.containerPort);
    if (!address) return false;
    return probe.protocol === 'TCP'
      ? this.#ports.opens(this.#instance, probe.containerPort, probe.timeoutMs)
      : answersWell(address, probe);
  }
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
