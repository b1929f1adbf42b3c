import { setTimeout as pause } from 'node:timers/promises';
import type { ServingInstance } from '../../gateway/round-robin.ts';
import { reasonOf } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { monotonicMs } from '../../system/clock.ts';
import type { DockerEngine } from './docker/docker-engine.ts';
import {
  CHECK_ENDED,
  type EngineEvent,
  EngineRefusal,
  EngineUnreachable,
  type Instance,
  isAlive,
  type PullProgress,
} from './engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import { readListeningSockets } from './listening-sockets.ts';
import type { Plan } from './plan.ts';
import { OPEN_LIMIT_MS, Readiness } from './readiness.ts';
import {
  type ContainerEvent,
  type ContainerFacts,
  complaintOf,
  type InstanceFacts,
  type InstanceView,
  isCheckedByEngine,
  isServing,
  lostTo,
  statusOf,
  verdictOn,
} from './status.ts';

const CHECK_NOTED_MS = 100;
const MAX_EVENTS = 50;
/** The delays between attempts after a failure whose cause may pass. They grow up to the last one. */
const RETRY_MS = [500, 2_000, 5_000, 15_000, 60_000];
/** An image or host folder that did not exist is looked for so often: somebody may have built, pulled or made it since. */
const LOOK_MS = 3_000;
/** Time until a new instance must be healthy, in addition to the grace period of its checks. */
const HEALTH_MARGIN_MS = 30_000;
const WATCH_INTERVAL_MS = 50;
/** Time that a new instance without health checks must run with open ports before the old ones are removed. */
const STEADY_MS = 1_000;
const LOG_LINES = 5;
/** An instance that has run so long is over its last end: engines reset the delay between restarts by then. */
const RECOVERED_MS = 10_000;

interface RunnerOptions {
  attached: EngineConnection;
  nowMs(): number;
  /** Sentences for the status in addition to those of the plan. */
  notesOn(record: StoredResource): readonly string[];
  drain(instanceId: string): Promise<void>;
  onFault(fault: unknown): void;
  onChange(): void;
  onPull(progress: PullProgress | undefined): void;
}

/** Brings an engine to the state that one record requires, one task at a time: a newer request aborts an older one. */
export class ContainerRunner {
  readonly attached: EngineConnection;
  readonly #options: RunnerOptions;
  #record: StoredResource;
  #plan: Plan;
  /** The plans of earlier revisions that instances still have. */
  readonly #earlierPlans = new Map<string, Plan>();
  #instances: readonly Instance[] = [];
  readonly #readiness: Readiness;
  readonly #leaving = new Set<string>();
  /** The last complaint about each instance that was down, for the time in which it runs until its next end. */
  readonly #lastComplaints = new Map<string, string>();
  /** Instances in which a process other than the first one was killed for its memory. The event of its end removes one. A list does not, because it can be older than the instance. */
  readonly #outOfMemory = new Set<string>();
  /** Instances that are known to run. The other new ones of a rolling update get no requests as long as old ones serve. */
  readonly #ready = new Set<string>();
  readonly #events: ContainerEvent[] = [];
  #checkTimer: NodeJS.Timeout | undefined;
  #recoveryTimer: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  /** The image id that instances must have after the tag moved. */
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
  #isConfirming = false;

  constructor(record: StoredResource, plan: Plan, options: RunnerOptions) {
    this.#record = record;
    this.#plan = plan;
    this.#options = options;
    this.attached = options.attached;
    this.#readiness = new Readiness({
      nowMs: options.nowMs,
      onChange: () => {
        this.#settle();
        options.onChange();
      },
      listeningSockets: (instanceId) => this.#answerTo((engine) => readListeningSockets(engine, instanceId)),
      onFault: (fault) => this.#failBy(fault),
    });
  }

  get record(): StoredResource {
    return this.#record;
  }

  get instances(): readonly Instance[] {
    return this.#instances;
  }

  change(record: StoredResource, plan: Plan): void {
    const isAnother = plan.workload.revision !== this.#plan.workload.revision;
    const isSame = !isAnother && plan.workload.instances === this.#plan.workload.instances;
    this.#record = record;
    if (isAnother) {
      // They keep their requests even if this takes back a change that is still being made.
      for (const { id } of this.#serving()) this.#ready.add(id);
      this.#earlierPlans.set(this.#plan.workload.revision, this.#plan);
      this.#imageId = undefined;
    }
    this.#plan = plan;
    if (isSame) return;
    this.#beginAgain();
  }

  /** Tries again what has failed, and replaces instances if the name of their image means another one by now (D-052). */
  async confirm(): Promise<void> {
    const { kind, image } = this.#plan.workload;
    if (this.#failure !== undefined) return this.#beginAgain();
    if (kind === 'job') return; // what has run has run
    this.#isConfirming = true;
    const imageId = await this.#answerTo((engine) => engine.findImage(image)).finally(() => {
      this.#isConfirming = false;
    });
    const isOther = (instance: Instance) =>
      this.#isOfNow(instance) && instance.imageId !== undefined && instance.imageId !== imageId;
    if (imageId === undefined || image !== this.#plan.workload.image || !this.#instances.some(isOther)) return;
    this.#imageId = imageId;
    this.wake();
  }

  wake(): void {
    if (this.#isRemoved) return;
    clearTimeout(this.#retryTimer);
    if (this.attached.state.kind !== 'ready') {
      // The engine's state reports that it is away. An earlier failure would keep `adopt` from trying again.
      this.#failure = undefined;
      return;
    }
    this.#isDue = true;
    if (this.#working) this.#working.abort();
    else this.#worked = this.#work().catch((fault: unknown) => this.#failBy(fault));
  }

  /** Takes over the instances that the engine already runs for this record, and starts missing ones. */
  adopt(instances: readonly Instance[]): void {
    if (this.#working || this.#refreshing) return; // it looks for itself
    this.#see(instances);
    if (this.#isAsRequested() || this.#failure !== undefined) return;
    this.wake();
  }

  onEvent({ action, instanceId, atMs }: Extract<EngineEvent, { kind: 'instance' }>): void {
    if (action === CHECK_ENDED) {
      // The daemon notes the result of a check a moment after its end.
      if (this.#plan.workload.health || this.#instances.some(isCheckedByEngine))
        this.#checkTimer ??= setTimeout(() => this.refresh(), CHECK_NOTED_MS).unref();
      return;
    }
    if (action === 'oom') this.#outOfMemory.add(instanceId);
    else if (action.startsWith('die')) this.#outOfMemory.delete(instanceId);
    this.#events.push({ timestamp: new Date(atMs).toISOString(), type: action, instance: instanceId.slice(0, 12) });
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
    // Where there is one more that is not started yet, there is nothing new to see.
    if (action !== 'create') this.refresh();
  }

  refresh(): void {
    clearTimeout(this.#checkTimer);
    this.#checkTimer = undefined;
    this.#isRefreshDue = true;
    this.#refreshing ??= this.#refresh()
      .catch((fault: unknown) => this.#failBy(fault))
      .finally(() => {
        this.#refreshing = undefined;
      });
  }

  status(): JsonObject {
    return statusOf(this.#record, this.#facts());
  }

  /** Returns where instances take requests for a port, which an earlier definition may have had at another number. */
  servingAt(portName: string): ServingInstance[] {
    return this.#serving().flatMap((instance) => {
      const containerPort = this.#planOf(instance).portsByName.get(portName) ?? this.#plan.portsByName.get(portName);
      const address = instance.addresses.find((candidate) => candidate.containerPort === containerPort);
      return address ? [{ instanceId: instance.id, host: address.host, port: address.port }] : [];
    });
  }

  #serving(): Instance[] {
    const serving = this.#instances.filter((instance) => this.#canServe(instance) && !this.#leaving.has(instance.id));
    if (serving.every((instance) => this.#isOfNow(instance))) return serving;
    return serving.filter((instance) => this.#ready.has(instance.id) || !this.#isOfNow(instance));
  }

  /** Returns the reason why nothing serves, in words that follow "container 'x' is not running: ". */
  unavailableReason(): string {
    const { state } = this.attached;
    if (this.#plan.workload.instances === 0) return 'it is scaled to 0 instances';
    if ('reason' in state) return state.reason;
    if (state.kind === 'connecting') return 'the container engine has not responded yet';
    return this.#failure ?? complaintOf(this.#instances, this.#facts()) ?? 'its instances are starting';
  }

  /** Returns the reason why an instance that takes requests may not answer them; undefined if nothing is wrong. Looks again, because engines do not report everything. */
  complaint(): string | undefined {
    this.refresh();
    return complaintOf(this.#instances, this.#facts());
  }

  /** Resolves when as many serve as are asked for; rejects with the reason when that failed, or did not come about in time. */
  async whenRunning(timeoutMs: number): Promise<void> {
    const untilMs = monotonicMs() + timeoutMs;
    while (this.#serving().filter((instance) => this.#isOfNow(instance)).length < this.#plan.workload.instances) {
      if (this.#failure !== undefined) throw new Error(this.#failure);
      if (this.#isRemoved) throw new Error(`container '${this.#record.name}' was deleted`);
      if (monotonicMs() > untilMs) throw new Error(`it did not start in time: ${this.unavailableReason()}`);
      await pause(WATCH_INTERVAL_MS);
    }
  }

  /** Replaces all instances, with the current inherited values (D-114); a failed start is retried. */
  async restart(): Promise<void> {
    try {
      await this.#removeInstances();
    } catch (failure) {
      // What was to be removed may stay.
      this.#leaving.clear();
      this.refresh();
      throw failure;
    }
    this.#beginAgain();
    this.#options.onChange();
  }

  #beginAgain(): void {
    this.#attempts = 0;
    this.#failure = undefined;
    this.wake();
  }

  views(instances: readonly Instance[]): InstanceView[] {
    return instances.map((instance) => {
      const { isChecked, health } = this.#factsOf(instance);
      const isCurrent = !this.#isConfirming && this.#isOfNow(instance);
      return { ...instance, health: isChecked ? verdictOn(instance, health) : 'none', isCurrent };
    });
  }

  async remove(): Promise<void> {
    // The removal ends what is under way, so its end is not waited for.
    this.stop().catch(this.#options.onFault);
    await this.#removeInstances();
  }

  async #removeInstances(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => this.#drain(instance)));
    await this.attached.use((engine) => engine.remove(this.#record.id));
  }

  #drain({ id }: Instance): Promise<void> {
    this.#leaving.add(id);
    return this.#options.drain(id);
  }

  /** Ends the work and the watching; what runs goes on. Resolves when nothing is asked of the engine for it any more. */
  stop(): Promise<void> {
    this.#isRemoved = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#checkTimer);
    clearTimeout(this.#recoveryTimer);
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
        await this.attached.use((engine) =>
          engine.apply(
            { ...this.#plan.workload, imageId },
            {
              signal: working.signal,
              onPull: this.#options.onPull,
              whenReady: async (instance) => {
                await this.#untilReady(instance, working.signal);
                this.#ready.add(instance.id);
              },
              beforeRemoval: (instance) => this.#drain(instance),
            },
          ),
        );
        this.#failure = undefined;
        this.#attempts = 0;
        if (this.#imageId === imageId) this.#imageId = undefined;
      } catch (failure) {
        // What was to be removed may stay.
        this.#leaving.clear();
        if (!working.signal.aborted) this.#fail(failure);
      }
      this.#working = undefined;
      await this.#look();
    }
  }

  #fail(failure: unknown): void {
    if (failure instanceof EngineUnreachable && this.attached.state.kind !== 'ready') {
      this.#failure = undefined;
      return;
    }
    if (!(failure instanceof EngineUnreachable)) this.#failure = reasonOf(failure); // otherwise it was only slow
    if (this.#isRemoved) return;
    // A definition that is refused is refused again: it waits for a change of the record. So do an image and a folder, unless they come (D-051).
    const refused = failure instanceof EngineRefusal ? failure.kind : undefined;
    if (refused === 'definition') return;
    const isMissing = refused === 'image' || refused === 'folder';
    const retryMs = RETRY_MS[Math.min(this.#attempts, RETRY_MS.length - 1)] ?? 0;
    if (!isMissing) this.#attempts += 1;
    this.#wakeIn(isMissing ? LOOK_MS : retryMs, refused === 'image');
  }

  /** @param awaitsImage then it looks for the image until that exists, because an attempt would pull it */
  #wakeIn(delayMs: number, awaitsImage: boolean): void {
    const look = async () => {
      const found = await this.#answerTo((engine) => engine.findImage(this.#plan.workload.image));
      if (this.#failure === undefined || this.#isRemoved) return;
      if (found === undefined) this.#wakeIn(delayMs, true);
      else this.wake();
    };
    this.#retryTimer = setTimeout(() => {
      if (awaitsImage) look().catch((fault: unknown) => this.#failBy(fault));
      else this.wake();
    }, delayMs).unref();
  }

  /** Marks the record FAILED by an error of this program, which ends with it. */
  #failBy(fault: unknown): void {
    this.#working = undefined;
    this.#failure = `internal error: ${reasonOf(fault)}`;
    this.#options.onFault(fault);
    this.#options.onChange();
  }

  /** Resolves to undefined if the engine refuses or is away. */
  async #answerTo<T>(question: (engine: DockerEngine) => Promise<T>): Promise<T | undefined> {
    try {
      return await question(await this.attached.engine());
    } catch {
      return undefined;
    }
  }

  async #refresh(): Promise<void> {
    while (this.#isRefreshDue && !this.#isRemoved) {
      this.#isRefreshDue = false;
      await this.#look();
    }
    // Another program has removed the missing instance.
    if (!this.#working && this.#failure === undefined && !this.#isAsRequested()) this.wake();
  }

  async #look(): Promise<void> {
    const instances = await this.#answerTo((engine) => engine.list(this.#record.id));
    if (instances) this.#see(instances);
  }

  #see(found: readonly Instance[]): void {
    if (this.#isRemoved) return;
    for (const ids of [this.#ready, this.#leaving, this.#lastComplaints])
      for (const id of ids.keys()) if (!found.some((instance) => instance.id === id)) ids.delete(id);
    // One that was stopped, and is not removed yet, is no failure.
    const isVisible = ({ id, state }: Instance) => state === 'running' || !this.#leaving.has(id);
    const instances = found.filter(isVisible).map((instance) => this.#withFirstFailure(instance));
    this.#instances = instances;
    for (const instance of instances) {
      const complaint = instance.state === 'running' ? undefined : complaintOf([instance], this.#facts());
      if (complaint !== undefined) this.#lastComplaints.set(instance.id, complaint);
    }
    this.#awaitRecovery();
    for (const revision of this.#earlierPlans.keys())
      if (!found.some((instance) => instance.revision === revision)) this.#earlierPlans.delete(revision);
    this.#readiness.attend(instances, (instance) => this.#planOf(instance).probes);
    this.#settle();
    this.#options.onChange();
  }

  /** Reports when a restart is over. An engine whose clock is ahead takes longer. */
  #awaitRecovery(): void {
    clearTimeout(this.#recoveryTimer);
    if (!this.#instances.some((instance) => this.#hasJustRestarted(instance))) return;
    this.#recoveryTimer = setTimeout(() => {
      this.#options.onChange();
      this.#awaitRecovery();
    }, RECOVERED_MS).unref();
  }

  /** An engine keeps a few results of a check only, so its first failure in a row is known from earlier looks. */
  #withFirstFailure(instance: Instance): Instance {
    const { failedCheck } = instance;
    const before = this.#instances.find(({ id }) => id === instance.id)?.failedCheck;
    if (!before || !failedCheck?.isCut) return instance;
    return { ...instance, failedCheck: { ...failedCheck, sinceMs: Math.min(before.sinceMs, failedCheck.sinceMs) } };
  }

  /** In a rolling update: resolves when the new instance serves; rejects when it ended or is ill. */
  async #untilReady(instance: Instance, signal: AbortSignal): Promise<void> {
    const { probes, workload } = this.#plan;
    const graceMs = Math.max(0, workload.health?.graceMs ?? 0, ...probes.map((probe) => probe.graceMs));
    const limitMs = Math.max(graceMs, instance.healthLimitMs) + HEALTH_MARGIN_MS + OPEN_LIMIT_MS;
    const untilMs = monotonicMs() + limitMs;
    await this.#look();
    let isConfirmed = false;
    while (!signal.aborted) {
      const now = this.#instances.find(({ id }) => id === instance.id);
      if (now?.state !== 'running' || verdictOn(now, this.#readiness.stateOf(now.id).health) === 'unhealthy') {
        const symptom = now?.state === 'running' ? 'fails its health check' : 'ended';
        const why = complaintOf(now ? [now] : [], this.#facts()) ?? `instance ${instance.id.slice(0, 12)} ${symptom}`;
        throw new Error(
          await this.#withLog(`the new definition does not run, so the old one stays in use: ${why}`, instance),
        );
      }
      const isReady = this.#canServe(now) && this.#isSteady(now);
      const isListening = ({ id }: Instance) => this.#readiness.stateOf(id).open?.isListening === true;
      const isSilent = isReady && !isListening(now) && this.#instances.some(isListening);
      if (isReady && !isSilent) {
        if (isConfirmed) return;
        // Events of the engine can be late: on a busy machine, the instance may have ended already.
        isConfirmed = true;
        await this.#look();
        continue;
      }
      isConfirmed = false;
      const isLate = monotonicMs() > untilMs;
      // A slow program may listen yet, but not one that listens elsewhere.
      if (isSilent && (isLate || this.#readiness.stateOf(now.id).open?.isElsewhere)) {
        const ports = now.addresses.map(({ containerPort }) => containerPort).join(', ');
        const reason = `the new definition does not listen on port ${ports}, so the old one stays in use`;
        throw new Error(await this.#withLog(reason, instance));
      }
      if (isLate) throw new Error('the new definition was not ready in time, so the old one stays in use');
      await pause(WATCH_INTERVAL_MS);
    }
    signal.throwIfAborted();
  }

  /** Adds the end of its log to a reason, because removing an instance removes its log. */
  async #withLog(reason: string, { id: instanceId }: Instance): Promise<string> {
    const logOptions = { instanceId, sinceMs: 0, tail: LOG_LINES, stderr: true };
    const engine = await this.attached.engine();
    const lines = await engine.logs(this.#record.id, logOptions).catch(() => []);
    if (lines.length === 0) return reason;
    return `${reason.replace(/\.$/, '')}. Its log ends with: ${lines.map(({ text }) => text).join(' | ')}`;
  }

  /** An instance without health checks has to run for a while, to show that it does not end soon after its start. */
  #isSteady(instance: Instance): boolean {
    if (this.#factsOf(instance).isChecked) return true;
    const { open } = this.#readiness.stateOf(instance.id);
    return open !== undefined && monotonicMs() - open.sinceMs >= STEADY_MS;
  }

  #isOpen({ id }: Instance): boolean {
    return this.#readiness.stateOf(id).open !== undefined;
  }

  #canServe(instance: Instance): boolean {
    const { probes, workload } = this.#planOf(instance);
    // The check of an image says nothing about the ports of the definition.
    const isCheckedByDefinition = probes.length > 0 || workload.health !== undefined;
    return isServing(instance, this.#factsOf(instance)) && (isCheckedByDefinition || this.#isOpen(instance));
  }

  #planOf({ revision }: Instance): Plan {
    return revision === this.#plan.workload.revision ? this.#plan : (this.#earlierPlans.get(revision) ?? this.#plan);
  }

  #isOfNow({ revision, imageId }: Instance): boolean {
    return revision === this.#plan.workload.revision && (this.#imageId === undefined || this.#imageId === imageId);
  }

  #isAsRequested(): boolean {
    const { kind, instances } = this.#plan.workload;
    if (this.#instances.some((instance) => !this.#isOfNow(instance) || instance.state === 'starting')) return false;
    if (kind === 'job') return this.#instances.length >= instances;
    return this.#instances.length === instances && this.#instances.every(isAlive);
  }

  #settle(): void {
    const open = this.#instances.filter((instance) => instance.state === 'running' && this.#isOpen(instance));
    if (open.length >= this.#plan.workload.instances) this.#hasRun = true;
  }

  #factsOf(instance: Instance): InstanceFacts {
    const { probes, workload } = this.#planOf(instance);
    const { health, open } = this.#readiness.stateOf(instance.id);
    const isChecked = probes.length > 0 || workload.health !== undefined || isCheckedByEngine(instance);
    return {
      isChecked,
      health,
      portComplaint: open?.complaint,
      recentComplaint: this.#recentComplaintOf(instance),
      hasJustRestarted: this.#hasJustRestarted(instance),
      isUp: this.#isOfNow(instance) && !this.#leaving.has(instance.id) && (isChecked || open !== undefined),
    };
  }

  #facts(): ContainerFacts {
    const failure = this.#failure;
    return {
      instances: this.#instances,
      factsOf: (instance) => this.#factsOf(instance),
      hasRun: this.#hasRun,
      trouble: lostTo(this.attached.state) ?? (failure === undefined ? undefined : { kind: 'failed', reason: failure }),
      notes: this.#notes(),
      events: this.#events,
    };
  }

  /** Tells what runs in another way than its record says, such as with fewer CPUs if the engine's machine has fewer. */
  #notes(): string[] {
    const { cpus } = this.#plan.workload;
    const limit = this.#instances.find((instance) => this.#isOfNow(instance))?.cpus;
    const isCapped = limit !== undefined && cpus > limit;
    const cap = isCapped
      ? [`the container engine has ${limit} CPUs, so an instance gets ${limit} and not ${cpus}`]
      : [];
    return [...cap, ...this.#plan.notes, ...this.#options.notesOn(this.#record)];
  }

  #hasJustRestarted({ restarts, startedAtMs = 0 }: Instance): boolean {
    return restarts > 0 && this.#options.nowMs() - startedAtMs < RECOVERED_MS;
  }

  #recentComplaintOf(instance: Instance): string | undefined {
    const { id } = instance;
    if (this.#outOfMemory.has(id))
      return `a process of instance ${id.slice(0, 12)} was killed because the instance exceeded its memory limit. Increase the limit.`;
    return this.#hasJustRestarted(instance) ? this.#lastComplaints.get(id) : undefined;
  }
}
