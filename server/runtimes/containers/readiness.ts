import { setTimeout as pause } from 'node:timers/promises';
import type { Instance } from './engine.ts';
import { type Health, probeHealth } from './health-probe.ts';
import { PortCheck } from './port-check.ts';
import type { Probe } from './workload.ts';

/** A new instance without health checks serves once its ports open, or after this time. */
export const OPEN_LIMIT_MS = 15_000;
const OPEN_INTERVAL_MS = 3;
const OPEN_TIMEOUT_MS = 1_000;

/** What is known of an instance beyond what its engine says. */
interface Watched {
  stopProbe?: (() => void) | undefined;
  health?: Health | undefined;
  isOpening?: boolean;
  /** When its ports opened, or were given up, when the instance had started, and whether one of them opened. */
  open?: { sinceMs: number; startedAtMs: number | undefined; isListening: boolean } | undefined;
}

/** Whether the instances of one record can take requests: their ports are open, and their checks from outside pass. */
export class Readiness {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  #instances: readonly Instance[] = [];
  readonly #watched = new Map<string, Watched>();
  readonly #ports = new PortCheck();
  #isStopped = false;

  constructor({ nowMs, onChange }: { nowMs(): number; onChange(): void }) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  healthOf(instanceId: string): Health | undefined {
    return this.#watched.get(instanceId)?.health;
  }

  isOpen(instanceId: string): boolean {
    return this.openSinceMs(instanceId) !== undefined;
  }

  /** Undefined while its ports are not open. */
  openSinceMs(instanceId: string): number | undefined {
    return this.#watched.get(instanceId)?.open?.sinceMs;
  }

  /** False if it publishes ports, and none of them opened in time. */
  isListening(instanceId: string): boolean {
    return this.#watched.get(instanceId)?.open?.isListening === true;
  }

  /** Begins to watch what runs, and forgets what does not any more. @param probesOf the checks of an instance, if it has some */
  attend(instances: readonly Instance[], probesOf: (instance: Instance) => readonly Probe[]): void {
    this.#instances = instances;
    for (const [id, watched] of this.#watched) {
      const one = instances.find((instance) => instance.id === id);
      // A paused instance keeps its ports, and serves again when it continues. The engine can have restarted it between two looks.
      const isAlive = one?.state === 'running' || one?.state === 'paused';
      if (!isAlive || one.startedAtMs !== watched.open?.startedAtMs) watched.open = undefined;
      if (one?.state !== 'running') {
        watched.stopProbe?.();
        watched.stopProbe = undefined;
        watched.health = undefined;
      }
      if (!one) this.#watched.delete(id);
    }
    for (const one of instances) {
      if (one.state !== 'running') continue;
      const watched = this.#watched.get(one.id) ?? {};
      this.#watched.set(one.id, watched);
      const probes = probesOf(one);
      if (probes.length > 0) watched.stopProbe ??= this.#probe(one, probes, watched);
      if (!watched.open && !watched.isOpening) void this.#waitUntilOpen(one, watched);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const { stopProbe } of this.#watched.values()) stopProbe?.();
  }

  #probe(instance: Instance, probes: readonly Probe[], watched: Watched): () => void {
    const onCheck = (health: Health) => {
      const before = watched.health;
      watched.health = health;
      if (before?.verdict !== health.verdict || before?.isFailing !== health.isFailing) this.#onChange();
    };
    return probeHealth(instance, probes, { nowMs: this.#nowMs, ports: this.#ports, onCheck });
  }

  async #waitUntilOpen(instance: Instance, watched: Watched): Promise<void> {
    watched.isOpening = true;
    const isListening = await this.#untilOpen(instance);
    watched.isOpening = false;
    if (this.#isStopped) return;
    watched.open = { sinceMs: this.#nowMs(), startedAtMs: instance.startedAtMs, isListening };
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
