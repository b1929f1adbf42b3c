import type { Change } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import { type LogParameters, parseLogQuery } from '../model/log-query.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { providerIdOf } from '../model/types/provider-rules.ts';
import type { WorldView } from '../model/world-view.ts';
import { AttachedEngine } from './attached-engine.ts';
import { ContainerRunner } from './container-runner.ts';
import type { ContainerEngine, EngineSource, ExecResult, Instance, InstanceStats, PullProgress } from './engine.ts';
import { EngineRefusal, EngineUnreachable } from './engine-errors.ts';
import type { InstanceView } from './instance-view.ts';
import { type Pull, PullBoard } from './pull-board.ts';
import { statusOf } from './status.ts';
import { namedVolumes, planOf } from './workload.ts';

/** Seconds after which a client may ask again while there is no container engine (D-183). */
const ENGINE_RETRY_S = '5';
/** How long stopping may take with what runs being removed. */
const STOP_LIMIT_MS = 20_000;
/** Networks and volumes go when nothing was deleted for so long: often the next thing is deleted at once. */
const PRUNE_AFTER_MS = 1_000;
/** An engine that nothing asks for is connected to a while after the start, which it would slow down. */
const CONNECT_IDLE_MS = 1_000;

/** Told to whoever watches. */
export type ContainerNews =
  | { kind: 'container'; recordId: Uuid; status: string; reason?: string; atMs: number }
  /** Without progress the pull is over. */
  | { kind: 'pull'; recordId: Uuid; progress?: PullProgress; atMs: number }
  | { kind: 'engine'; address: string; state: string; reason?: string; atMs: number };

export interface ContainerServiceOptions {
  view: WorldView;
  nowMs(): number;
  /** What tells one engine from another: providers with the same key share one. */
  engineKey(provider: StoredResource): string;
  openEngine(provider: StoredResource): EngineSource;
  /** Stops requests to an instance and waits, for a bounded time, until those under way have ended. */
  drain(instanceId: string): Promise<void>;
  onNews(news: ContainerNews): void;
  onWarning(message: string): void;
}

/** One engine as people see it. */
export interface EngineView {
  address: string;
  state: 'connecting' | 'ready' | 'unreachable';
  version?: string;
  reason?: string;
  /** Names of the providers whose containers it runs. */
  providers: string[];
}

/**
 * Runs what the world's containers and jobs wish, and tells how they are. The world says what should be; nothing here writes to
 * it. A record is followed from its commit on, until it is gone.
 */
export class ContainerService {
  readonly #options: ContainerServiceOptions;
  readonly #engines = new Map<string, AttachedEngine>();
  readonly #runners = new Map<Uuid, ContainerRunner>();
  readonly #statuses = new Map<Uuid, string>();
  readonly #removals = new Set<Promise<unknown>>();
  readonly #pulls: PullBoard;
  #pruneTimer: NodeJS.Timeout | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ContainerServiceOptions) {
    this.#options = options;
    const { nowMs, onNews } = options;
    this.#pulls = new PullBoard(nowMs, (recordId, progress) => {
      onNews({ kind: 'pull', recordId, ...(progress && { progress }), atMs: nowMs() });
    });
  }

  /** Takes on all containers and jobs of the world. Engines are connected to in the background: nothing is waited for. */
  start(): void {
    const { view } = this.#options;
    for (const record of [...view.all('containers'), ...view.all('jobs')]) this.#follow(record);
    // Engines that ran something once may still hold it, whether or not a record is left.
    for (const provider of view.all('providers')) if (isEngineProvider(provider)) this.#engineOf(provider);
    this.#connectTimer = setTimeout(() => {
      for (const attached of this.#engines.values()) attached.start();
    }, CONNECT_IDLE_MS).unref();
  }

  /** Ends everything; with `remove` also what runs, and the networks. Volumes stay: they hold data. */
  async stop(what: 'keep' | 'remove'): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pruneTimer);
    clearTimeout(this.#connectTimer);
    const runners = [...this.#runners.values()];
    if (what === 'remove') {
      const removed = Promise.allSettled(runners.map((one) => one.remove()));
      await within(STOP_LIMIT_MS, removed);
      await within(STOP_LIMIT_MS, Promise.allSettled([...this.#removals]));
      await within(STOP_LIMIT_MS, Promise.allSettled(this.#ready().map((one) => this.#prune(one, new Set()))));
    }
    for (const one of runners) one.stop();
    for (const one of this.#engines.values()) one.stop();
  }

  /** Follows the world; called after each commit. */
  changed(changes: readonly Change[]): void {
    if (this.#isStopped) return;
    for (const { before, after } of changes) {
      const record = after ?? before;
      if (!record) continue;
      if (isRunnable(record)) {
        if (after && after.state === 'Active') this.#follow(after);
        else this.#leave(record);
      } else if (after && isEngineProvider(after)) {
        this.#engineOf(after);
      }
    }
  }

  /** The live properties of a container or job (D-048, D-213). */
  status(record: StoredResource): JsonObject {
    const runner = this.#runners.get(record.id);
    if (runner) return runner.status();
    const provider = this.#providerOf(record);
    const state = provider && record.state === 'Active' ? this.#engineOf(provider).state : undefined;
    return statusOf(record, {
      instances: [],
      health: new Map(),
      hasHealthChecks: false,
      hasRun: false,
      trouble: state?.kind === 'unreachable' ? { kind: 'lost', reason: state.reason } : undefined,
      events: [],
    });
  }

  /** Where requests for a port mapping of a container may go now. */
  serving(containerId: Uuid, portName: string): { instanceId: string; host: string; port: number }[] {
    const runner = this.#runners.get(containerId);
    const containerPort = runner?.plan.portsByName.get(portName);
    return (runner?.serving() ?? []).flatMap(({ id, addresses }) => {
      const address = addresses.find((one) => one.containerPort === containerPort);
      return address ? [{ instanceId: id, host: address.host, port: address.port }] : [];
    });
  }

  /** Why nothing serves, in words that follow "container 'x' is not running: ". */
  whyNotServing(containerId: Uuid): string {
    return this.#runners.get(containerId)?.whyNotServing() ?? 'it was not asked to run';
  }

  /** Resolves when a container runs as wished; rejects with the reason why not. */
  async whenRunning(containerId: Uuid, timeoutMs: number): Promise<void> {
    const runner = this.#runners.get(containerId);
    if (!runner) throw new Error(`container ${containerId} was deleted`);
    await runner.whenRunning(timeoutMs);
  }

  /** Rejects with the 503 of D-183 when a provider's engine does not answer now. */
  async demandEngine(providerId: Uuid, what: string): Promise<void> {
    const provider = this.#options.view.find(providerId);
    if (!provider) throw new PlatformError(404, `provider ${providerId} not found`);
    await this.#answering(what, async () => (await this.#engineOf(provider).engine()).ping());
  }

  /** Lines of all instances, oldest first (D-191). Throws 400 for a malformed query, 503 without an engine. */
  async lines(id: Uuid, parameters: LogParameters): Promise<LogLine[]> {
    const { sinceMs, newest, withStderr } = parseLogQuery(parameters, this.#options.nowMs());
    return this.#asking(id, 'reading container logs', (engine) =>
      engine.logs(id, {
        sinceMs: Math.max(0, sinceMs),
        stderr: withStderr,
        ...(Number.isFinite(newest) && { tail: newest }),
      }),
    );
  }

  /**
   * Lines of all instances since a moment, oldest first, at most so many of the newest; both outputs. Throws 503 without an
   * engine.
   */
  linesSince(id: Uuid, sinceMs: number, newest: number): Promise<LogLine[]> {
    const wish = { sinceMs, tail: newest, stderr: true };
    return this.#asking(id, 'reading container logs', (engine) => engine.logs(id, wish));
  }

  /** Each line from now on, until the returned function is called. */
  follow(id: Uuid, onLine: (instanceId: string, line: LogLine) => void): Promise<() => void> {
    return this.#asking(id, 'following container logs', (engine) => engine.follow(id, onLine));
  }

  /** Every instance that the engine has of a container or job now, in whatever state; oldest first. Throws 503 without an engine. */
  instances(id: Uuid): Promise<InstanceView[]> {
    return this.#asking(
      id,
      'looking at instances',
      async (engine) => this.#runners.get(id)?.views(await engine.list(id)) ?? [],
    );
  }

  /** The pulls under way. */
  pulls(): Pull[] {
    return this.#pulls.list();
  }

  /** Ends all instances of a container or job and starts new ones; a job runs again. Throws 503 without an engine. */
  async restart(id: Uuid): Promise<void> {
    const runner = this.#runners.get(id);
    if (!runner) throw new PlatformError(409, 'nothing of it was ever asked to run; it may have been deleted');
    // What is inherited may have changed (D-114).
    this.#follow(runner.record);
    await this.#asking(id, 'restarting a container', (engine) => engine.ping());
    await this.#answering('restarting a container', () => runner.restart());
  }

  /** Asks engines that are away now, and not when their turn comes. */
  async retryEngines(): Promise<EngineView[]> {
    await Promise.all(Array.from(this.#engines.values(), (attached) => attached.retry()));
    return this.engines();
  }

  /** What each running instance uses; one that goes meanwhile is left out. Takes a second or two. Throws 503 without an engine. */
  async stats(id: Uuid): Promise<({ instanceId: string } & InstanceStats)[]> {
    const running = this.#running(id);
    const measure = async (engine: ContainerEngine, instanceId: string) => {
      try {
        return [{ instanceId, ...(await engine.stats(instanceId)) }];
      } catch (failure) {
        if (failure instanceof EngineRefusal && failure.kind === 'missing') return [];
        throw failure;
      }
    };
    return this.#asking(id, 'measuring a container', async (engine) =>
      (await Promise.all(running.map((one) => measure(engine, one.id)))).flat(),
    );
  }

  /** Runs a command inside an instance, the first one unless another is named. */
  async exec(id: Uuid, command: readonly string[], instanceId?: string): Promise<ExecResult> {
    const instance = this.#running(id).find((one) => instanceId === undefined || one.id.startsWith(instanceId));
    if (!instance) throw new PlatformError(409, 'no such instance of this container is running');
    return this.#asking(id, 'running a command in a container', (engine) => engine.exec(instance.id, command));
  }

  /** Every engine that a provider of this world names. */
  engines(): EngineView[] {
    return [...this.#engines].map(([key, { address, state }]) => ({
      address,
      state: state.kind,
      ...(state.kind === 'ready' && { version: state.version }),
      ...(state.kind === 'unreachable' && { reason: state.reason }),
      providers: this.#options.view
        .all('providers')
        .filter((one) => isEngineProvider(one) && this.#options.engineKey(one) === key)
        .map(({ name }) => name),
    }));
  }

  #follow(record: StoredResource): void {
    if (record.state !== 'Active') return;
    const provider = this.#providerOf(record);
    if (!provider) return;
    let plan: ReturnType<typeof planOf>;
    try {
      plan = planOf(this.#options.view, record);
    } catch (failure) {
      this.#options.onWarning(`${record.name} cannot be run: ${failure instanceof Error ? failure.message : failure}`);
      return;
    }
    const known = this.#runners.get(record.id);
    if (known) {
      known.wish(record, plan);
      return;
    }
    const runner = new ContainerRunner(record, plan, {
      attached: this.#engineOf(provider),
      nowMs: this.#options.nowMs,
      drain: this.#options.drain,
      onChange: () => this.#tell(record.id),
      onPull: (progress) => this.#pulls.note(record.id, progress),
    });
    this.#runners.set(record.id, runner);
    runner.attached.start();
    runner.wake();
  }

  #leave({ id }: StoredResource): void {
    const runner = this.#runners.get(id);
    if (!runner) return;
    this.#runners.delete(id);
    this.#statuses.delete(id);
    // What could not be removed is found as nobody's when its engine is back.
    this.#remove(runner.remove());
  }

  #remove(removal: Promise<unknown>): void {
    const ended = removal
      .catch((failure: unknown) => {
        if (failure instanceof EngineUnreachable) return;
        this.#options.onWarning(`an instance was not removed: ${failure instanceof Error ? failure.message : failure}`);
      })
      .finally(() => {
        this.#removals.delete(ended);
        this.#pruneSoon();
      });
    this.#removals.add(ended);
  }

  #engineOf(provider: StoredResource): AttachedEngine {
    const key = this.#options.engineKey(provider);
    const known = this.#engines.get(key);
    if (known) return known;
    const attached: AttachedEngine = new AttachedEngine(this.#options.openEngine(provider), {
      onInstances: (instances) => this.#adopt(attached, instances),
      onEvent: (event) => this.#runners.get(event.recordId)?.onEvent(event),
      onState: (state) => {
        const reason = state.kind === 'unreachable' ? { reason: state.reason } : {};
        const news = { address: attached.address, state: state.kind, ...reason, atMs: this.#options.nowMs() };
        this.#options.onNews({ kind: 'engine', ...news });
        for (const [id, runner] of this.#runners) if (runner.attached === attached) this.#tell(id);
      },
    });
    this.#engines.set(key, attached);
    return attached;
  }

  /** Gives each record its own, and removes what belongs to none. */
  #adopt(attached: AttachedEngine, instances: readonly Instance[]): void {
    if (this.#isStopped) return;
    const byRecord = grouped(instances);
    for (const [id, runner] of this.#runners) {
      if (runner.attached === attached) runner.adopt(byRecord.get(id) ?? []);
    }
    for (const id of byRecord.keys()) {
      const runner = this.#runners.get(id);
      if (runner?.attached !== attached) this.#remove(attached.use((engine) => engine.remove(id)));
    }
    this.#pruneSoon();
  }

  #pruneSoon(): void {
    clearTimeout(this.#pruneTimer);
    if (this.#isStopped) return;
    this.#pruneTimer = setTimeout(() => {
      const used = new Set([...this.#runners.values()].map(({ plan }) => plan.workload.environmentId));
      for (const one of this.#ready()) this.#prune(one, used).catch(() => undefined); // the next time
    }, PRUNE_AFTER_MS).unref();
  }

  async #prune(attached: AttachedEngine, environments: ReadonlySet<Uuid>): Promise<void> {
    const engine = await attached.engine();
    await engine.prune({ environments, volumes: namedVolumes(this.#options.view) });
  }

  #ready(): AttachedEngine[] {
    return [...this.#engines.values()].filter(({ state }) => state.kind === 'ready');
  }

  #running(id: Uuid): Instance[] {
    return (this.#runners.get(id)?.instances ?? []).filter(({ state }) => state === 'running');
  }

  #providerOf(record: StoredResource): StoredResource | undefined {
    return this.#options.view.find(providerIdOf(record) ?? '');
  }

  #tell(id: Uuid): void {
    const runner = this.#runners.get(id);
    if (!runner) return;
    const { status, status_detail: detail } = runner.status();
    const { reason } = Object(detail);
    const summary = JSON.stringify([status, reason]);
    if (this.#statuses.get(id) === summary) return;
    this.#statuses.set(id, summary);
    const why = typeof reason === 'string' ? { reason } : {};
    this.#options.onNews({
      kind: 'container',
      recordId: id,
      status: String(status),
      ...why,
      atMs: this.#options.nowMs(),
    });
  }

  #asking<T>(id: Uuid, what: string, work: (engine: ContainerEngine) => Promise<T>): Promise<T> {
    const record = this.#options.view.find(id);
    const provider = record && this.#providerOf(record);
    if (!provider) throw new PlatformError(404, `container ${id} not found`);
    return this.#answering(what, async () => work(await this.#engineOf(provider).engine()));
  }

  /** Does what needs the engine's answer now; what it says no to is a client's matter (D-050, D-183). */
  async #answering<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (failure) {
      if (failure instanceof EngineUnreachable) {
        throw new PlatformError(503, `${what} needs the container engine: ${failure.message}`, {
          headers: { 'Retry-After': ENGINE_RETRY_S },
          cause: failure,
        });
      }
      if (failure instanceof EngineRefusal)
        throw new PlatformError(409, `${what} failed: ${failure.message}`, { cause: failure });
      throw failure;
    }
  }
}

function isRunnable(record: StoredResource): boolean {
  const { word } = typeOf(record);
  return word === 'containers' || word === 'jobs';
}

const isEngineProvider = ({ type }: StoredResource) => type.startsWith('Configuration::Provider::CaaS');

function grouped(instances: readonly Instance[]): Map<Uuid, Instance[]> {
  const groups = new Map<Uuid, Instance[]>();
  for (const one of instances) groups.set(one.recordId, [...(groups.get(one.recordId) ?? []), one]);
  return groups;
}

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
