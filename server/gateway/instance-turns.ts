import { EventEmitter, once } from 'node:events';
import type { Uuid } from '../model/ids.ts';
import type { InstanceDirectory, ServingInstance } from './instance-directory.ts';

/** How long an instance is left out after its drain. One that is served by the directory still was not removed after all. */
const RETIRED_MS = 60_000;

/** Something under way at an instance. */
export interface InstanceUse {
  /** Asks what would not end by itself to do so. */
  goAway?(): void;
  /** Ends it when the time of a drain is up; without it, it may go on for as long as the instance lives. */
  cut?(): void;
}

/** Whose turn it is among the instances of each container, and what is under way at each. */
export class InstanceTurns {
  readonly #directory: InstanceDirectory;
  readonly #nowMs: () => number;
  /** By container and port name: how many turns were given. */
  readonly #turns = new Map<string, number>();
  /** Instances that get nothing new, until then (epoch milliseconds). */
  readonly #retiredUntilMs = new Map<string, number>();
  readonly #uses = new Map<string, Set<InstanceUse>>();
  /** Tells by the id of an instance that nothing is under way there any more. */
  readonly #idle = new EventEmitter();

  constructor(directory: InstanceDirectory, nowMs: () => number) {
    this.#directory = directory;
    this.#nowMs = nowMs;
  }

  /** The instances that may be sent something new, the one whose turn it is first; each call is a turn (D-047). */
  inTurn(containerId: Uuid, portName: string): readonly ServingInstance[] {
    const serving = this.#directory.serving(containerId, portName);
    const open = this.#retiredUntilMs.size === 0 ? serving : serving.filter((one) => !this.#isRetired(one.instanceId));
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

  /** Notes that something is under way at an instance, until the returned function is called. */
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

  /**
   * Sends nothing new to an instance. Resolves when what is under way there has ended, or the time is up; what can be cut is
   * cut then.
   */
  async drain(instanceId: string, timeoutMs: number): Promise<void> {
    this.#retire(instanceId, timeoutMs);
    for (const use of this.#uses.get(instanceId) ?? []) use.goAway?.();
    if (!this.#uses.has(instanceId)) return;
    await once(this.#idle, instanceId, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
    for (const use of this.#uses.get(instanceId) ?? []) use.cut?.();
  }

  /** Cuts everything that can be cut, and lets every drain end. */
  stop(): void {
    for (const use of [...this.#uses.values()].flatMap((uses) => [...uses])) use.cut?.();
    for (const instanceId of this.#uses.keys()) this.#idle.emit(instanceId);
  }

  #isRetired(instanceId: string): boolean {
    return (this.#retiredUntilMs.get(instanceId) ?? 0) > this.#nowMs();
  }

  #retire(instanceId: string, timeoutMs: number): void {
    const nowMs = this.#nowMs();
    for (const [id, untilMs] of this.#retiredUntilMs) {
      if (untilMs <= nowMs) this.#retiredUntilMs.delete(id);
    }
    this.#retiredUntilMs.set(instanceId, nowMs + timeoutMs + RETIRED_MS);
  }
}
