import { EventEmitter, once } from 'node:events';
import type { Uuid } from '../model/record.ts';

/** A drained instance that is still listed after this time was not removed after all, and gets requests again. */
const RETIRED_MS = 60_000;

export interface InstanceUse {
  /** Ends it early if it would not end by itself. */
  goAway?(): void;
  /** Ends it after the timeout of a drain; if not set, it can continue as long as the instance runs. */
  cut?(): void;
}

export class RoundRobin {
  readonly #directory: InstanceDirectory;
  readonly #steadyMs: () => number;
  readonly #turns = new Map<string, number>();
  readonly #retiredUntilMs = new Map<string, number>();
  readonly #uses = new Map<string, Set<InstanceUse>>();
  readonly #idle = new EventEmitter();

  constructor(directory: InstanceDirectory, steadyMs: () => number) {
    this.#directory = directory;
    this.#steadyMs = steadyMs;
  }

  /** The available instances, beginning with the next in turn; each call advances the position (D-047). */
  inOrder(containerId: Uuid, portName: string): readonly ServingInstance[] {
    const serving = this.#directory.serving(containerId, portName);
    const open =
      this.#retiredUntilMs.size === 0 ? serving : serving.filter((instance) => !this.#isRetired(instance.instanceId));
    const key = `${containerId}/${portName}`;
    if (open.length === 0) {
      this.#turns.delete(key);
      return open;
    }
    const turn = (this.#turns.get(key) ?? -1) + 1;
    this.#turns.set(key, turn);
    const first = turn % open.length;
    return first === 0 ? open : [...open.slice(first), ...open.slice(0, first)];
  }

  /** Registers an open request at an instance; call the returned function when it ends. */
  begin(instanceId: string, use: InstanceUse): () => void {
    const uses = this.#uses.get(instanceId) ?? new Set();
    this.#uses.set(instanceId, uses);
    uses.add(use);
    return () => {
      if (!uses.delete(use) || uses.size > 0) return;
      this.#uses.delete(instanceId);
      this.#idle.emit(instanceId);
    };
  }

  /** Sends nothing new to an instance. Resolves when its open requests have ended, or were cut after the timeout. */
  async drain(instanceId: string, timeoutMs: number): Promise<void> {
    this.#retire(instanceId, timeoutMs);
    for (const use of this.#uses.get(instanceId) ?? []) use.goAway?.();
    if (!this.#uses.has(instanceId)) return;
    await once(this.#idle, instanceId, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
    for (const use of this.#uses.get(instanceId) ?? []) use.cut?.();
  }

  stop(): void {
    for (const use of [...this.#uses.values()].flatMap((uses) => [...uses])) use.cut?.();
    for (const instanceId of this.#uses.keys()) this.#idle.emit(instanceId);
  }

  #isRetired(instanceId: string): boolean {
    return (this.#retiredUntilMs.get(instanceId) ?? 0) > this.#steadyMs();
  }

  #retire(instanceId: string, timeoutMs: number): void {
    const steadyMs = this.#steadyMs();
    for (const [id, untilMs] of this.#retiredUntilMs) {
      if (untilMs <= steadyMs) this.#retiredUntilMs.delete(id);
    }
    this.#retiredUntilMs.set(instanceId, steadyMs + timeoutMs + RETIRED_MS);
  }
}

/** A running instance of a container and the address of one of its ports (D-047). */
export interface ServingInstance {
  instanceId: string;
  host: string;
  port: number;
}

/** Provides the instances of a container that can get requests. The container service implements it. */
export interface InstanceDirectory {
  /** The ready instances in a stable order, by a name from `portNameOf`. Called for each request, so it must not do I/O. */
  serving(containerId: Uuid, portName: string): readonly ServingInstance[];
  /** Returns why no instance is ready, for users: completes "container 'shop' is not running: ". */
  unavailableReason(containerId: Uuid): string;
  /** A sentence for users about an instance that runs and does not do what it should, such as listening on its port. */
  complaint?(containerId: Uuid): string | undefined;
}
