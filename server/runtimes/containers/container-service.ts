import { setTimeout as pause } from 'node:timers/promises';
import type { ServingInstance } from '../../gateway/round-robin.ts';
import type { Change } from '../../model/commit.ts';
import { reasonOf } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { isContainerEngine } from '../../model/types/provider-rules.ts';
import { ContainerRunner } from './container-runner.ts';
import { EngineLeftovers, EngineUnreachable, type Instance, type IsKept, type PullProgress } from './engine.ts';
import type { EngineConnection, EngineListener } from './engine-connection.ts';
import { Engines, type EnginesOptions } from './engines.ts';
import { leftoverSentence, lockedSentence } from './leftover-sentence.ts';
import { planOf } from './plan.ts';
import { PullProgressTracker } from './pull-progress-tracker.ts';
import { lostTo, statusOf } from './status.ts';

/** Time limits for stopping, with removal of the instances, and for the check for leftovers afterwards. */
const STOP_LIMIT_MS = 30_000;
const LOOK_LIMIT_MS = 5_000;
/** Networks and volumes go when nothing was deleted for so long: often the next thing is deleted at once. */
const PRUNE_AFTER_MS = 1_000;
/** An engine that nothing asks for is connected to a while after the start, which it would slow down. */
const CONNECT_IDLE_MS = 1_000;

export type ContainerNews =
  | { kind: 'container'; recordId: Uuid; status: string; reason?: string; atMs: number }
  /** Without progress the pull is over. */
  | { kind: 'pull'; recordId: Uuid; progress?: PullProgress; atMs: number }
  | { kind: 'engine'; address: string; state: string; reason?: string; atMs: number };

export interface ContainerServiceOptions extends Omit<EnginesOptions, 'listener'> {
  nowMs(): number;
  /** Sentences for the status about what runs in another way than a record says. */
  notesOn(record: StoredResource): readonly string[];
  /** Stops requests to an instance and waits, for a bounded time, until those under way have ended. */
  drain(instanceId: string): Promise<void>;
  onNews(update: ContainerNews): void;
  onWarning(message: string): void;
  onFault(fault: unknown): void;
}

/** Runs the containers and jobs of the world from their commit to their deletion, and reports their state. Nothing here writes to the world. */
export class ContainerService {
  readonly #options: ContainerServiceOptions;
  readonly engines: Engines;
  readonly #runners = new Map<Uuid, ContainerRunner>();
  readonly #statuses = new Map<Uuid, string>();
  /** The reasons why records cannot be run as they are stored. */
  readonly #refusals = new Map<Uuid, string>();
  readonly #removals = new Set<Promise<unknown>>();
  readonly #swept = new Set<EngineConnection>();
  readonly pulls = new PullProgressTracker();
  #pruneTimer: NodeJS.Timeout | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ContainerServiceOptions) {
    this.#options = options;
    const { view, opening } = options;
    this.engines = new Engines({ view, opening, listener: this.#listener() });
  }

  /** Takes on all containers and jobs of the world. Engines are connected to in the background: nothing is waited for. */
  start(): void {
    const { view } = this.#options;
    for (const record of [...view.all('containers'), ...view.all('jobs')]) this.#follow(record);
    // Engines that ran something once may still hold it, whether or not a record is left.
    for (const provider of view.all('providers'))
      if (isContainerEngine(provider.type)) this.engines.connectionOf(provider);
    this.#connectTimer = setTimeout(() => {
      for (const connection of this.engines.all()) connection.start();
    }, CONNECT_IDLE_MS).unref();
  }

  /** `remove` also removes instances and networks, `forget` volumes, too. Ends after its limit at the latest; throws EngineLeftovers. */
  async stop(mode: 'keep' | 'remove' | 'forget'): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pruneTimer);
    clearTimeout(this.#connectTimer);
    const ended = Promise.allSettled([
      ...this.#removals,
      ...Array.from(this.#runners.values(), (runner) => runner.stop()),
    ]);
    try {
      if (mode === 'keep') return;
      const options = { ended, volumes: mode === 'forget' };
      const results = await Promise.all(this.engines.all().map((connection) => this.#clear(connection, options)));
      const sentences = results.filter((sentence) => sentence !== undefined);
      if (sentences.length > 0) throw new EngineLeftovers(sentences.join('\n'));
    } finally {
      for (const connection of this.engines.all()) connection.stop();
    }
  }

  /** Applies a change of a container, job or provider that the view must already show. */
  changed({ before, after }: Change): void {
    if (this.#isStopped) return;
    const record = after ?? before;
    if (record && isRunnable(record)) {
      if (after?.state === 'Active') this.#follow(after);
      else this.#leave(record);
    } else if (after && isContainerEngine(after.type)) {
      this.engines.connectionOf(after);
    }
  }

  status(record: StoredResource): JsonObject {
    const refusal = this.#refusals.get(record.id);
    const runner = this.#runners.get(record.id);
    if (runner && refusal === undefined) return runner.status();
    const state = record.state === 'Active' ? this.engines.find(record)?.state : undefined;
    return statusOf(record, {
      instances: runner?.instances ?? [],
      factsOf: () => ({ isChecked: false, hasJustRestarted: false, isUp: true }),
      notes: [],
      hasRun: false,
      trouble: refusal === undefined ? lostTo(state) : { kind: 'failed', reason: refusal },
      events: [],
    });
  }

  serving(containerId: Uuid, portName: string): ServingInstance[] {
    return this.#runners.get(containerId)?.servingAt(portName) ?? [];
  }

  unavailableReason(containerId: Uuid): string {
    const refusal = this.#refusals.get(containerId);
    if (refusal !== undefined) return refusal;
    return this.#runners.get(containerId)?.unavailableReason() ?? 'it was not started';
  }

  complaint(containerId: Uuid): string | undefined {
    return this.#runners.get(containerId)?.complaint();
  }

  async whenRunning(containerId: Uuid, timeoutMs: number): Promise<void> {
    const runner = this.#runners.get(containerId);
    if (!runner) throw new Error(`container ${containerId} was deleted`);
    await runner.whenRunning(timeoutMs);
  }

  findRunner(id: Uuid): ContainerRunner | undefined {
    return this.#runners.get(id);
  }

  /** A record was sent again unchanged (D-052). */
  confirmed({ id }: StoredResource): void {
    this.#runners.get(id)?.confirm().catch(this.#options.onFault);
  }

  /** Runs a record as it is now. One that cannot be run is FAILED, and no matter for any other. */
  #follow(record: StoredResource): void {
    if (record.state !== 'Active') return;
    try {
      this.#run(record);
      this.#refusals.delete(record.id);
    } catch (failure) {
      const reason = reasonOf(failure);
      this.#refusals.set(record.id, reason);
      this.#options.onWarning(`${record.name} cannot be run: ${reason}`);
      this.#report(record.id, 'FAILED', reason);
    }
  }

  #run(record: StoredResource): void {
    const attached = this.engines.find(record);
    if (!attached) return;
    const plan = planOf(this.#options.view, record);
    const existingRunner = this.#runners.get(record.id);
    if (existingRunner) {
      existingRunner.change(record, plan);
      return;
    }
    const runner = new ContainerRunner(record, plan, {
      ...this.#options,
      attached,
      onChange: () => this.#reportUpdate(record.id),
      onPull: (progress) => {
        const atMs = this.#options.nowMs();
        const isDue = this.pulls.note(record.id, progress, atMs);
        if (isDue) this.#options.onNews({ kind: 'pull', recordId: record.id, ...(progress && { progress }), atMs });
      },
    });
    this.#runners.set(record.id, runner);
    attached.start();
    runner.wake();
  }

  #leave({ id }: StoredResource): void {
    this.#refusals.delete(id);
    const runner = this.#runners.get(id);
    if (!runner) return;
    this.#runners.delete(id);
    this.#statuses.delete(id);
    // Instances that could not be removed are found as orphans when the engine is back.
    this.#remove(runner.remove());
  }

  #remove(removal: Promise<unknown>): void {
    const ended = removal
      .catch((failure: unknown) => {
        if (failure instanceof EngineUnreachable) return;
        this.#options.onWarning(`an instance was not removed: ${reasonOf(failure)}`);
      })
      .finally(() => {
        this.#removals.delete(ended);
        this.#pruneSoon();
      });
    this.#removals.add(ended);
  }

  async #clear(
    attached: EngineConnection,
    { ended, volumes }: { ended: Promise<unknown>; volumes: boolean },
  ): Promise<string | undefined> {
    const runners = [...this.#runners.values()].filter((runner) => runner.attached === attached);
    const instanceIds = runners.flatMap(({ instances }) => instances.map(({ id }) => id));
    if (attached.state.kind === 'connecting' && runners.length === 0) return undefined; // nothing was ever asked of it
    const startedMs = performance.now();
    const work = async () => {
      await Promise.all(instanceIds.map((id) => this.#options.drain(id)));
      await Promise.race([ended, pause(STOP_LIMIT_MS / 3, undefined, { ref: false })]); // instances that they are still creating are found as well
      const engine = await attached.engine();
      return engine.clear({ volumes, limitMs: STOP_LIMIT_MS - (performance.now() - startedMs) });
    };
    const limitMs = STOP_LIMIT_MS + LOOK_LIMIT_MS;
    const late = async () => {
      await pause(limitMs, undefined, { ref: false });
      throw new Error(`timeout after ${limitMs / 1_000} s`);
    };
    try {
      const { lockedNetworks, ...leftovers } = await Promise.race([work(), late()]);
      if (lockedNetworks) this.#options.onWarning(lockedSentence(attached.address, lockedNetworks));
      return leftoverSentence(attached.address, leftovers, `they still existed after ${STOP_LIMIT_MS / 1_000} s`);
    } catch (failure) {
      const reason = reasonOf(failure);
      const containers = instanceIds.map((id) => id.slice(0, 12));
      return leftoverSentence(attached.address, { containers, services: [], networks: [], volumes: [] }, reason);
    }
  }

  #listener(): EngineListener {
    return {
      onInstances: (attached, instances) => this.#adopt(attached, instances),
      onEvent: (event) => this.#runners.get(event.recordId)?.onEvent(event),
      onState: (attached) => {
        const { address, state } = attached;
        if (state.kind === 'ready') this.#sweep(attached);
        const reason = 'reason' in state ? { reason: state.reason } : {};
        this.#options.onNews({ kind: 'engine', address, state: state.kind, ...reason, atMs: this.#options.nowMs() });
        for (const [id, runner] of this.#runners) if (runner.attached === attached) this.#reportUpdate(id);
      },
      onFault: this.#options.onFault,
    };
  }

  #sweep(attached: EngineConnection): void {
    if (this.#swept.has(attached)) return;
    this.#swept.add(attached);
    const swept = attached.engine().then((engine) => engine.sweep());
    swept.catch(() => this.#swept.delete(attached)); // when it is back
  }

  #adopt(attached: EngineConnection, instances: readonly Instance[]): void {
    if (this.#isStopped) return;
    const instancesOf = (id: Uuid) => instances.filter(({ recordId }) => recordId === id);
    for (const [id, runner] of this.#runners) if (runner.attached === attached) runner.adopt(instancesOf(id));
    for (const id of new Set(instances.map(({ recordId }) => recordId))) {
      if (this.#refusals.has(id)) continue; // until its record says what shall run
      if (this.#runners.get(id)?.attached !== attached)
        this.#remove(this.#removeOrphans(attached, id, instancesOf(id)));
    }
    this.#pruneSoon();
  }

  /** Two addresses can lead to the same daemon: instances that the engine of the runner lists, too, are no orphans. */
  async #removeOrphans(attached: EngineConnection, id: Uuid, found: readonly Instance[]): Promise<void> {
    const currentInstances = await this.#runners.get(id)?.attached.use((engine) => engine.list(id));
    if (currentInstances?.some((instance) => found.some((foundInstance) => foundInstance.id === instance.id))) return;
    await attached.use((engine) => engine.remove(id));
  }

  #pruneSoon(): void {
    clearTimeout(this.#pruneTimer);
    if (this.#isStopped) return;
    this.#pruneTimer = setTimeout(() => {
      const isKept: IsKept = (kind, id) => {
        if (kind === 'volume') return this.#options.view.find(id) !== undefined;
        return [...this.#runners.values()].some(({ record }) => record.parent === id);
      };
      for (const connection of this.engines.all()) {
        if (connection.state.kind !== 'ready') continue;
        const pruned = connection.engine().then((engine) => engine.prune(isKept));
        pruned.catch(() => undefined); // the next time
      }
    }, PRUNE_AFTER_MS).unref();
  }

  #reportUpdate(id: Uuid): void {
    const runner = this.#runners.get(id);
    if (!runner) return;
    const { status, status_detail: detail, ...live } = this.status(runner.record);
    const { reason } = Object(detail);
    const counts = [live.tasks_running, live.tasks_healthy, live.tasks_unhealthy, live.tasks_staged];
    this.#report(id, String(status), typeof reason === 'string' ? reason : undefined, counts);
  }

  #report(id: Uuid, status: string, reason: string | undefined, counts: unknown[] = []): void {
    const summary = JSON.stringify([status, reason, counts]);
    if (this.#statuses.get(id) === summary) return;
    this.#statuses.set(id, summary);
    const why = reason === undefined ? {} : { reason };
    this.#options.onNews({ kind: 'container', recordId: id, status, ...why, atMs: this.#options.nowMs() });
  }
}

function isRunnable(record: StoredResource): boolean {
  const { collection } = typeOf(record);
  return collection === 'containers' || collection === 'jobs';
}
