import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../system/clock.ts';
import type { Instance } from './engine.ts';
import { closedPortsSentence, type ListeningSocket } from './listening-sockets.ts';
import type { Probe } from './plan.ts';
import { PortCheck } from './port-check.ts';
import { type Health, probeHealth } from './probe-health.ts';

/** A new instance without health checks serves once its ports open, or after this time. */
export const OPEN_LIMIT_MS = 15_000;
const OPEN_INTERVAL_MS = 3;
const OPEN_TIMEOUT_MS = 1_000;
/** Interval at which ports that did not open in time are looked at. */
const CLOSED_INTERVAL_MS = 1_000;

/** The state of an instance that its engine does not report. */
interface Watched {
  stopProbe?: (() => void) | undefined;
  /** The result of its checks through ports; undefined if it has none, or was not checked yet. */
  health?: Health | undefined;
  isOpening?: boolean;
  /** Undefined until its ports have opened or were given up. */
  open?: Opening | undefined;
}

interface Opening {
  /** The time by `monotonicMs`. */
  sinceMs: number;
  /** The start of the instance before it. */
  startedAtMs: number | undefined;
  /** False if it publishes ports, and none of them opened. */
  isListening: boolean;
  /** True if its programs are known to listen, but where no connection leads to: time does not change that. */
  isElsewhere: boolean;
  /** A sentence, after the name of the instance, about the ports that did not open. */
  complaint: string | undefined;
}

interface ReadinessOptions {
  nowMs(): number;
  onChange(): void;
  /** Reads where the programs of an instance listen; undefined where that cannot be read. */
  listeningSockets(instanceId: string): Promise<readonly ListeningSocket[] | undefined>;
  onFault(fault: unknown): void;
}

/** Decides if the instances of one record can take requests: their ports are open, and their checks from outside pass. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #instances: readonly Instance[] = [];
  readonly #watched = new Map<string, Watched>();
  readonly #ports = new PortCheck();
  #isStopped = false;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  stateOf(instanceId: string): Pick<Watched, 'health' | 'open'> {
    return this.#watched.get(instanceId) ?? {};
  }

  /** Begins to watch what runs, and forgets what does not any more. @param probesOf the checks of an instance, if it has some */
  attend(instances: readonly Instance[], probesOf: (instance: Instance) => readonly Probe[]): void {
    this.#instances = instances;
    for (const [id, watched] of this.#watched) {
      const watchedInstance = instances.find((instance) => instance.id === id);
      // A paused instance keeps its ports, and serves again when it continues. The engine can have restarted it between two looks.
      const isAlive = watchedInstance?.state === 'running' || watchedInstance?.state === 'paused';
      if (!isAlive || watchedInstance.startedAtMs !== watched.open?.startedAtMs) watched.open = undefined;
      if (watchedInstance?.state !== 'running') {
        watched.stopProbe?.();
        watched.stopProbe = undefined;
        watched.health = undefined;
      }
      if (!watchedInstance) this.#watched.delete(id);
    }
    for (const instance of instances) {
      if (instance.state !== 'running') continue;
      const watched = this.#watched.get(instance.id) ?? {};
      this.#watched.set(instance.id, watched);
      const probes = probesOf(instance);
      if (probes.length > 0) watched.stopProbe ??= this.#probe(instance, probes, watched);
      if (!watched.open && !watched.isOpening) this.#waitUntilOpen(instance, watched).catch(this.#options.onFault);
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
      const isSameFailure = before?.failedCheck?.result === health.failedCheck?.result;
      if (before?.verdict !== health.verdict || !isSameFailure) this.#options.onChange();
    };
    return probeHealth(instance, probes, { nowMs: this.#options.nowMs, ports: this.#ports, onCheck });
  }

  async #waitUntilOpen(instance: Instance, watched: Watched): Promise<void> {
    watched.isOpening = true;
    const ports = instance.addresses.map(({ containerPort }) => containerPort);
    let closed = await this.#untilOpen(instance, ports);
    watched.isOpening = false;
    if (this.#isStopped) return;
    const opening: Opening = {
      sinceMs: monotonicMs(),
      startedAtMs: instance.startedAtMs,
      isListening: closed.length === 0 || closed.length < ports.length,
      isElsewhere: false,
      complaint: undefined,
    };
    watched.open = opening;
    this.#options.onChange();
    const isCurrent = () => watched.open === opening && !this.#isStopped;
    while (closed.length > 0 && isCurrent()) {
      const sockets = await this.#options.listeningSockets(instance.id);
      closed = await this.#closedPorts(instance, ports);
      if (!isCurrent()) return;
      const complaint = closed.length > 0 ? closedPortsSentence(closed, sockets) : undefined;
      opening.isListening = closed.length < ports.length;
      opening.isElsewhere = !opening.isListening && sockets !== undefined && sockets.length > 0;
      if (complaint !== opening.complaint) {
        opening.complaint = complaint;
        this.#options.onChange();
      }
      if (closed.length > 0) await pause(CLOSED_INTERVAL_MS, undefined, { ref: false });
    }
  }

  /** Resolves to the ports that did not open in time. */
  async #untilOpen(instance: Instance, ports: readonly number[]): Promise<readonly number[]> {
    const limitMs = monotonicMs() + OPEN_LIMIT_MS;
    let closed: readonly number[] = ports;
    while (!this.#isStopped && monotonicMs() < limitMs) {
      closed = await this.#closedPorts(instance, ports);
      if (closed.length === 0) return closed;
      if (this.#instances.find(({ id }) => id === instance.id)?.state === 'restarting') break;
      await pause(OPEN_INTERVAL_MS);
    }
    return closed;
  }

  async #closedPorts(instance: Instance, ports: readonly number[]): Promise<readonly number[]> {
    const open = await Promise.all(ports.map((port) => this.#ports.opens(instance, port, OPEN_TIMEOUT_MS)));
    return ports.filter((_port, index) => !open[index]);
  }
}
