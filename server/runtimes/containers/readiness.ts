import { setTimeout as pause } from 'node:timers/promises';
import type { Instance } from './engine.ts';
import { type Health, HealthProbe } from './health-probe.ts';
import { PortCheck } from './port-check.ts';
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
  readonly #health = new Map<string, Health>();
  readonly #probes = new Map<string, HealthProbe>();
  /** When the ports of an instance opened, or were given up, and when the instance had started. */
  readonly #open = new Map<string, { sinceMs: number; startedAtMs: number | undefined }>();
  readonly #opening = new Set<string>();
  readonly #listening = new Set<string>();
  readonly #ports = new PortCheck();
  #isStopped = false;

  constructor({ nowMs, onChange }: { nowMs(): number; onChange(): void }) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  get health(): ReadonlyMap<string, Health> {
    return this.#health;
  }

  isOpen(instanceId: string): boolean {
    return this.#open.has(instanceId);
  }

  /** Undefined while its ports are not open. */
  openSinceMs(instanceId: string): number | undefined {
    return this.#open.get(instanceId)?.sinceMs;
  }

  /** False if it publishes ports, and none of them opened in time. */
  isListening(instanceId: string): boolean {
    return this.#listening.has(instanceId);
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
    const alive = new Map(
      instances.filter(({ state }) => state === 'running' || state === 'paused').map((one) => [one.id, one]),
    );
    for (const [id, { startedAtMs }] of this.#open) {
      const one = alive.get(id);
      // The engine can have restarted it between two looks.
      if (one && one.startedAtMs === startedAtMs) continue;
      this.#open.delete(id);
      this.#listening.delete(id);
    }
    for (const one of running.values()) {
      const probes = probesOf(one);
      if (probes.length > 0 && !this.#probes.has(one.id)) this.#check(one, probes);
      if (!this.isOpen(one.id) && !this.#opening.has(one.id)) void this.#waitUntilOpen(one);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const probe of this.#probes.values()) probe.stop();
    this.#probes.clear();
  }

  #check(instance: Instance, probes: readonly Probe[]): void {
    const onCheck = (health: Health) => {
      const before = this.#health.get(instance.id);
      this.#health.set(instance.id, health);
      if (before?.verdict !== health.verdict || before?.isFailing !== health.isFailing) this.#onChange();
    };
    this.#probes.set(
      instance.id,
      new HealthProbe(instance, probes, { nowMs: this.#nowMs, ports: this.#ports, onCheck }),
    );
  }

  async #waitUntilOpen(instance: Instance): Promise<void> {
    this.#opening.add(instance.id);
    const isListening = await this.#untilOpen(instance);
    this.#opening.delete(instance.id);
    if (this.#isStopped) return;
    if (isListening) this.#listening.add(instance.id);
    this.#open.set(instance.id, { sinceMs: this.#nowMs(), startedAtMs: instance.startedAtMs });
    this.#onChange();
  }

  async #untilOpen(instance: Instance): Promise<boolean> {
    const limitMs = this.#nowMs() + OPEN_LIMIT_MS;
    const ports = instance.addresses.map(({ containerPort }) => containerPort);
    const isOpen = (port: number) => this.#ports.opens(instance, port, OPEN_TIMEOUT_MS);
    let open: readonly boolean[] = [];
    while (!this.#isStopped && this.#nowMs() < limitMs) {
      open = await Promise.all(ports.map(isOpen));
      if (open.every(Boolean)) return true;
      if (this.#instances.find(({ id }) => id === instance.id)?.state === 'restarting') break;
      await pause(OPEN_INTERVAL_MS);
    }
    return open.includes(true);
  }
}
