import { setTimeout as pause } from 'node:timers/promises';
import type { Instance } from './engine.ts';
import { HealthProbe } from './health-probe.ts';
import { portOpens } from './port-opens.ts';
import type { Probe } from './workload.ts';

/** A new instance without health checks serves once its ports open, or after this time. */
export const OPEN_LIMIT_MS = 15_000;
const OPEN_INTERVAL_MS = 3;
const OPEN_TIMEOUT_MS = 1_000;

/** Whether the instances of one record can take requests: their ports are open, and their checks from outside pass. */
export class Readiness {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  #instances: readonly Instance[] = [];
  readonly #health = new Map<string, 'healthy' | 'unhealthy'>();
  readonly #probes = new Map<string, HealthProbe>();
  /** Instances whose ports have opened, or were given up waiting for. */
  readonly #open = new Set<string>();
  readonly #opening = new Set<string>();
  #isStopped = false;

  constructor({ nowMs, onChange }: { nowMs(): number; onChange(): void }) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  /** What the checks found last, by instance. */
  get health(): ReadonlyMap<string, 'healthy' | 'unhealthy'> {
    return this.#health;
  }

  isOpen(instanceId: string): boolean {
    return this.#open.has(instanceId);
  }

  /** Begins to watch what runs, and forgets what does not any more. @param probesOf the checks of an instance, if it has some */
  attend(instances: readonly Instance[], probesOf: (instance: Instance) => readonly Probe[]): void {
    this.#instances = instances;
    const running = new Map(instances.filter(({ state }) => state === 'running').map((one) => [one.id, one]));
    for (const [id, probe] of this.#probes) {
      if (running.has(id)) continue;
      probe.stop();
      this.#probes.delete(id);
      this.#health.delete(id);
    }
    // What somebody pauses listens on, and serves again as soon as it may.
    const alive = new Set(
      instances.filter(({ state }) => state === 'running' || state === 'paused').map(({ id }) => id),
    );
    for (const id of this.#open) if (!alive.has(id)) this.#open.delete(id);
    for (const one of running.values()) {
      const probes = probesOf(one);
      if (probes.length > 0 && !this.#probes.has(one.id)) this.#check(one, probes);
      if (!this.#open.has(one.id) && !this.#opening.has(one.id)) void this.#waitUntilOpen(one);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const probe of this.#probes.values()) probe.stop();
    this.#probes.clear();
  }

  #check(instance: Instance, probes: readonly Probe[]): void {
    const onVerdict = (verdict: 'healthy' | 'unhealthy') => {
      this.#health.set(instance.id, verdict);
      this.#onChange();
    };
    this.#probes.set(instance.id, new HealthProbe(instance, probes, { nowMs: this.#nowMs, onVerdict }));
  }

  async #waitUntilOpen(instance: Instance): Promise<void> {
    this.#opening.add(instance.id);
    await this.#untilOpen(instance);
    this.#opening.delete(instance.id);
    if (this.#isStopped) return;
    this.#open.add(instance.id);
    this.#onChange();
  }

  async #untilOpen(instance: Instance): Promise<void> {
    const limitMs = this.#nowMs() + OPEN_LIMIT_MS;
    const ports = instance.addresses.map(({ containerPort }) => containerPort);
    const isOpen = (port: number) => portOpens(instance, port, OPEN_TIMEOUT_MS);
    while (!this.#isStopped && this.#nowMs() < limitMs) {
      if ((await Promise.all(ports.map(isOpen))).every(Boolean)) return;
      if (this.#instances.find(({ id }) => id === instance.id)?.state === 'restarting') return;
      await pause(OPEN_INTERVAL_MS);
    }
  }
}
