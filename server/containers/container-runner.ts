import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../model/json.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import type { AttachedEngine } from './attached-engine.ts';
import type { EngineEvent, Instance, PullProgress } from './engine.ts';
import { EngineRefusal, EngineUnreachable } from './engine-errors.ts';
import { type InstanceView, instanceViews } from './instance-view.ts';
import { OPEN_LIMIT_MS, Readiness } from './readiness.ts';
import { type ContainerEvent, complaintOf, isServing, type Known, statusOf, type Trouble } from './status.ts';
import type { Plan } from './workload.ts';

/** How many of the engine's events a record tells. */
const MAX_EVENTS = 50;
/** What failed for a reason that may pass is tried again after the first delay, then with growing ones up to the last. */
const RETRY_MS = [500, 2_000, 5_000, 15_000, 60_000];
/** An image that there was none of is looked for so often: somebody may have built, pulled or loaded it since. */
const IMAGE_LOOK_MS = 3_000;
/** Beyond the grace period of its checks, how long a new instance may take to be healthy. */
const HEALTH_MARGIN_MS = 30_000;
const WATCH_INTERVAL_MS = 50;
/** How long a new instance without health checks has to go on before the old ones may go. */
const STEADY_MS = 1_000;

export interface RunnerOptions {
  attached: AttachedEngine;
  nowMs(): number;
  /** Stops requests to an instance and waits for those under way. */
  drain(instanceId: string): Promise<void>;
  /** Something that readers see has changed. */
  onChange(): void;
  /** How far a pull for the record has come; undefined: it is over. */
  onPull(progress: PullProgress | undefined): void;
}

/**
 * Makes an engine run what one record asks for, and knows how far that is. One piece of work at a time: a newer request ends the work
 * for the older one, so that whatever was asked for in between, the last request is what runs.
 */
export class ContainerRunner {
  readonly #options: RunnerOptions;
  #record: StoredResource;
  #plan: Plan;
  #instances: readonly Instance[] = [];
  readonly #readiness: Readiness;
  readonly #leaving = new Set<string>();
  readonly #events: ContainerEvent[] = [];
  #failure: string | undefined;
  /** Of the image that instances have to be of, when its name has come to mean another one than they were made from. */
  #imageId: string | undefined;
  #hasRun = false;
  #working: AbortController | undefined;
  #worked: Promise<void> = Promise.resolve();
  #isDue = false;
  #isRemoved = false;
  #attempts = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #isRefreshDue = false;

  constructor(record: StoredResource, plan: Plan, options: RunnerOptions) {
    this.#record = record;
    this.#plan = plan;
    this.#options = options;
    this.#readiness = new Readiness({
      nowMs: options.nowMs,
      onChange: () => {
        this.#settle();
        options.onChange();
      },
    });
  }

  get record(): StoredResource {
    return this.#record;
  }

  get plan(): Plan {
    return this.#plan;
  }

  get attached(): AttachedEngine {
    return this.#options.attached;
  }

  get instances(): readonly Instance[] {
    return this.#instances;
  }

  /** A newer definition, or one with another number of instances. */
  change(record: StoredResource, plan: Plan): void {
    const isAnother = plan.workload.revision !== this.#plan.workload.revision;
    const isSame = !isAnother && plan.workload.instances === this.#plan.workload.instances;
    this.#record = record;
    this.#plan = plan;
    if (isSame) return;
    if (isAnother) this.#hasRun = false;
    if (isAnother) this.#imageId = undefined;
    this.#attempts = 0;
    this.#failure = undefined;
    this.wake();
  }

  /**
   * The same request again: what has failed is tried again, and instances are replaced when the name of their image means another
   * one on the engine by now (D-052).
   */
  async confirm(): Promise<void> {
    const { kind, image } = this.#plan.workload;
    if (this.#failure !== undefined) {
      this.#attempts = 0;
      this.#failure = undefined;
      return this.wake();
    }
    if (kind === 'job') return; // what has run has run
    const imageId = await this.#findImage(image);
    const isOther = (one: Instance) => this.#isOfNow(one) && one.imageId !== undefined && one.imageId !== imageId;
    if (imageId === undefined || image !== this.#plan.workload.image || !this.#instances.some(isOther)) return;
    this.#imageId = imageId;
    this.#hasRun = false;
    this.wake();
  }

  /** Compares what runs with what is asked for, now or as soon as the work under way has ended. */
  wake(): void {
    if (this.#isRemoved || this.#options.attached.state.kind !== 'ready') return;
    clearTimeout(this.#retryTimer);
    this.#isDue = true;
    if (this.#working) this.#working.abort();
    else this.#worked = this.#work();
  }

  /** Takes over what the engine was found to run for this record, and does what is missing. */
  adopt(instances: readonly Instance[]): void {
    if (this.#working || this.#refreshing) return; // it looks for itself
    this.#see(instances);
    if (this.#isAsAsked() || this.#failure !== undefined) return;
    this.wake();
  }

  onEvent({ what, instanceId, atMs }: Extract<EngineEvent, { kind: 'instance' }>): void {
    this.#events.push({ timestamp: new Date(atMs).toISOString(), type: what, instance: instanceId.slice(0, 12) });
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
    // Where there is one more that is not started yet, there is nothing new to see.
    if (what !== 'create') this.refresh();
  }

  /** Looks at the instances again, soon. */
  refresh(): void {
    this.#isRefreshDue = true;
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
  }

  status(): JsonObject {
    return statusOf(this.#record, this.#known());
  }

  /** What serves requests, newest definition first to last. */
  serving(): Instance[] {
    const known = this.#known();
    return this.#instances.filter(
      (one) =>
        isServing(one, known) &&
        (known.hasHealthChecks || this.#readiness.isOpen(one.id)) &&
        !this.#leaving.has(one.id),
    );
  }

  /** Why nothing serves, in words that follow "container 'x' is not running: ". */
  whyNotServing(): string {
    const { state } = this.#options.attached;
    if (this.#plan.workload.instances === 0) return 'it is scaled to 0 instances';
    if ('reason' in state) return state.reason;
    if (state.kind === 'connecting') return 'the container engine has not answered yet';
    return this.#failure ?? complaintOf(this.#instances) ?? 'its instances are starting';
  }

  /** Resolves when as many serve as are asked for; rejects with the reason when that failed, or did not come about in time. */
  async whenRunning(timeoutMs: number): Promise<void> {
    const untilMs = this.#options.nowMs() + timeoutMs;
    while (this.serving().filter((one) => this.#isOfNow(one)).length < this.#plan.workload.instances) {
      if (this.#failure !== undefined) throw new Error(this.#failure);
      if (this.#isRemoved) throw new Error(`container '${this.#record.name}' was deleted`);
      if (this.#options.nowMs() > untilMs) throw new Error(`it did not run in time: ${this.whyNotServing()}`);
      await pause(WATCH_INTERVAL_MS);
    }
  }

  /** Ends all instances and starts new ones, with what they inherit now (D-114); what has failed is tried again. */
  async restart(): Promise<void> {
    const leaving = [...this.#instances];
    await Promise.all(leaving.map(({ id }) => this.#options.drain(id)));
    await this.#options.attached.use((engine) => engine.remove(this.#record.id));
    this.#attempts = 0;
    this.#failure = undefined;
    this.#hasRun = false;
    this.wake();
    this.#options.onChange();
  }

  /** Instances of the record with what is known of their health. */
  views(instances: readonly Instance[]): InstanceView[] {
    return instanceViews(instances, { ...this.#known(), revision: this.#plan.workload.revision });
  }

  /** Ends the work and the watching, and what runs. */
  async remove(): Promise<void> {
    void this.stop();
    const leaving = [...this.#instances];
    await Promise.all(leaving.map(({ id }) => this.#options.drain(id)));
    await this.#options.attached.use((engine) => engine.remove(this.#record.id));
  }

  /** Ends the work and the watching; what runs goes on. Resolves when nothing is asked of the engine for it any more. */
  stop(): Promise<void> {
    this.#isRemoved = true;
    clearTimeout(this.#retryTimer);
    this.#working?.abort();
    this.#readiness.stop();
    return this.#worked;
  }

  async #work(): Promise<void> {
    while (this.#isDue && !this.#isRemoved) {
      this.#isDue = false;
      const working = new AbortController();
      this.#working = working;
      const imageId = this.#imageId;
      try {
        await this.#options.attached.use((engine) =>
          engine.apply(
            { ...this.#plan.workload, imageId },
            {
              signal: working.signal,
              onPull: this.#options.onPull,
              whenReady: (instance) => this.#whenReady(instance, working.signal),
              beforeRemoval: (instance) => this.#beforeRemoval(instance),
            },
          ),
        );
        this.#failure = undefined;
        if (this.#imageId === imageId) this.#imageId = undefined;
      } catch (failure) {
        if (!working.signal.aborted) this.#fail(failure);
      }
      this.#working = undefined;
      await this.#look();
    }
  }

  #fail(failure: unknown): void {
    if (failure instanceof EngineUnreachable) return; // it is told by the engine's state, and done again when that is back
    this.#failure = reasonOf(failure);
    if (this.#isRemoved) return;
    // A definition that is refused is refused again: it waits for a change of the record. So does an image, unless it comes (D-051).
    const refused = failure instanceof EngineRefusal ? failure.kind : undefined;
    if (refused === 'definition') return;
    if (refused === 'image') {
      this.#awaitImage();
      return;
    }
    const delayMs = RETRY_MS[Math.min(this.#attempts, RETRY_MS.length - 1)] ?? 0;
    this.#attempts += 1;
    this.#retryTimer = setTimeout(() => this.wake(), delayMs).unref();
  }

  #awaitImage(): void {
    this.#retryTimer = setTimeout(async () => {
      const found = await this.#findImage(this.#plan.workload.image);
      if (this.#failure === undefined || this.#isRemoved) return;
      if (found === undefined) this.#awaitImage();
      else this.wake();
    }, IMAGE_LOOK_MS).unref();
  }

  /** Undefined when the engine has none, or does not answer. */
  async #findImage(image: string): Promise<string | undefined> {
    try {
      return await (await this.#options.attached.engine()).findImage(image);
    } catch {
      return undefined;
    }
  }

  async #refresh(): Promise<void> {
    while (this.#isRefreshDue && !this.#isRemoved) {
      this.#isRefreshDue = false;
      await this.#look();
    }
    // What is missing was removed by somebody else.
    if (!this.#working && this.#failure === undefined && !this.#isAsAsked()) this.wake();
  }

  async #look(): Promise<void> {
    try {
      // Not in line with the work: what changed is to be seen at once.
      const engine = await this.#options.attached.engine();
      this.#see(await engine.list(this.#record.id));
    } catch {
      // The engine went away: its state tells.
    }
  }

  #see(instances: readonly Instance[]): void {
    if (this.#isRemoved) return;
    this.#instances = instances;
    for (const id of this.#leaving) if (!instances.some((one) => one.id === id)) this.#leaving.delete(id);
    this.#readiness.attend(instances, (one) => (this.#isOfNow(one) ? this.#plan.probes : []));
    this.#settle();
    this.#options.onChange();
  }

  /** In a rolling update: resolves when the new instance serves; rejects when it ended or is ill. */
  async #whenReady(instance: Instance, signal: AbortSignal): Promise<void> {
    const { probes, workload } = this.#plan;
    const graceMs = Math.max(0, workload.health?.graceMs ?? 0, ...probes.map((probe) => probe.graceMs));
    const untilMs = this.#options.nowMs() + graceMs + HEALTH_MARGIN_MS + OPEN_LIMIT_MS;
    await this.#look();
    while (!signal.aborted) {
      const now = this.#instances.find(({ id }) => id === instance.id);
      if (now?.state !== 'running' || this.#readiness.health.get(instance.id) === 'unhealthy') {
        const why = complaintOf(now ? [now] : []) ?? `instance ${instance.id.slice(0, 12)} fails its health check`;
        throw new Error(`the new definition does not run, so the old one goes on: ${why}`);
      }
      if (this.serving().some(({ id }) => id === instance.id) && this.#isSteady(now)) return;
      if (this.#options.nowMs() > untilMs)
        throw new Error('the new definition did not serve in time, so the old one goes on');
      await pause(WATCH_INTERVAL_MS);
    }
    signal.throwIfAborted();
  }

  /** What has no health checks shows by going on that it does not end at once. */
  #isSteady({ startedAtMs }: Instance): boolean {
    const { probes, workload } = this.#plan;
    if (probes.length > 0 || workload.health) return true;
    return startedAtMs !== undefined && this.#options.nowMs() - startedAtMs >= STEADY_MS;
  }

  async #beforeRemoval({ id }: Instance): Promise<void> {
    this.#leaving.add(id);
    await this.#options.drain(id);
  }

  #isOfNow({ revision, imageId }: Instance): boolean {
    return revision === this.#plan.workload.revision && (this.#imageId === undefined || this.#imageId === imageId);
  }

  #isAsAsked(): boolean {
    const { kind, instances } = this.#plan.workload;
    if (this.#instances.some((one) => !this.#isOfNow(one) || one.state === 'starting')) return false;
    const alive = this.#instances.filter(
      ({ state }) => kind === 'job' || state === 'running' || state === 'paused' || state === 'restarting',
    );
    return kind === 'job'
      ? alive.length >= instances
      : alive.length === instances && alive.length === this.#instances.length;
  }

  #settle(): void {
    const { instances } = this.#plan.workload;
    if (
      this.#instances.filter((one) => one.state === 'running' && this.#readiness.isOpen(one.id)).length >= instances
    ) {
      this.#hasRun = true;
      this.#attempts = 0;
    }
  }

  #known(): Known {
    const { workload, probes } = this.#plan;
    return {
      instances: this.#instances,
      health: this.#readiness.health,
      hasHealthChecks: probes.length > 0 || workload.health !== undefined,
      hasRun: this.#hasRun,
      trouble: this.#trouble(),
      events: this.#events,
    };
  }

  #trouble(): Trouble | undefined {
    const { state } = this.#options.attached;
    if ('reason' in state) return { kind: 'lost', reason: state.reason };
    return this.#failure === undefined ? undefined : { kind: 'failed', reason: this.#failure };
  }
}
