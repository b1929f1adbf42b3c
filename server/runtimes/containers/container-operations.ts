import { PlatformError } from '../../model/errors.ts';
import type { LogLine } from '../../model/invocation.ts';
import { type LogParameters, parseLogQuery } from '../../model/log-query.ts';
import type { Uuid, WorldView } from '../../model/record.ts';
import type { ContainerService } from './container-service.ts';
import type { DockerEngine } from './docker/docker-engine.ts';
import {
  EngineRefusal,
  EngineUnreachable,
  type ExecResult,
  type Instance,
  type InstanceStats,
  type Shell,
  type TerminalSize,
} from './engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { EngineView } from './engines.ts';
import type { Pull } from './pull-progress-tracker.ts';
import type { InstanceView } from './status.ts';

/** Lines of one answer (D-185). */
const MOST_LINES = 10_000;

/** Seconds after which a client may ask again while there is no container engine (D-183). */
const ENGINE_RETRY_S = '5';

/** The operations by which people inspect and control containers and jobs. Without an engine most answers are 503 (D-183). */
export class ContainerOperations {
  readonly #running: ContainerService;
  readonly #view: WorldView;
  readonly #nowMs: () => number;

  constructor(running: ContainerService, { view, nowMs }: { view: WorldView; nowMs(): number }) {
    this.#running = running;
    this.#view = view;
    this.#nowMs = nowMs;
  }

  /** Rejects with the 503 of D-183 when a provider's engine does not answer now. */
  async requireEngine(providerId: Uuid, activity: string): Promise<void> {
    const provider = this.#view.find(providerId);
    if (!provider) throw new PlatformError('not_found', `provider ${providerId} not found`);
    await answering(activity, async () => (await this.#running.engines.connectionOf(provider).engineNow()).ping());
  }

  /** Lines of all instances, oldest first (D-191). Throws 400 for a malformed query, 503 without an engine. */
  async lines(id: Uuid, parameters: LogParameters): Promise<LogLine[]> {
    const { sinceMs, newest, withStderr } = parseLogQuery(parameters, this.#nowMs());
    return this.linesSince(id, Math.max(0, sinceMs), Math.min(newest, MOST_LINES), withStderr);
  }

  /** Lines of all instances since a moment, oldest first, at most so many of the newest. */
  linesSince(id: Uuid, sinceMs: number, tail: number, stderr = true): Promise<LogLine[]> {
    const logOptions = { sinceMs, tail, stderr };
    return this.#asking(id, 'reading container logs', (engine) => engine.logs(id, logOptions));
  }

  /** Tells that there is something new in the log, from now on until the returned function is called; see `EngineConnection`. */
  follow(id: Uuid, onNews: () => void): Promise<() => void> {
    return answering('following container logs', async () => this.#attachedTo(id).follow(id, onNews));
  }

  /** Every instance that the engine has of a container or job now, in whatever state; oldest first. */
  instances(id: Uuid): Promise<InstanceView[]> {
    return this.#asking(
      id,
      'looking at instances',
      async (engine) => this.#running.findRunner(id)?.views(await engine.list(id)) ?? [],
    );
  }

  pulls(): Pull[] {
    return this.#running.pulls.list();
  }

  async restart(id: Uuid): Promise<void> {
    const runner = this.#running.findRunner(id);
    if (!runner) throw new PlatformError('invalid_state', 'the container was never started, or it was deleted');
    // Values that it inherits may have changed since it was started (D-114).
    this.#running.changed({ after: runner.record });
    await this.#asking(id, 'restarting a container', (engine) => engine.ping());
    await answering('restarting a container', () => runner.restart());
  }

  /** Resource usage of each running instance; one that ends meanwhile is left out. Takes a second or two. */
  async stats(id: Uuid): Promise<({ instanceId: string } & InstanceStats)[]> {
    const running = this.#instancesOf(id);
    const measure = async (engine: DockerEngine, instanceId: string) => {
      try {
        return [{ instanceId, ...(await engine.stats(instanceId)) }];
      } catch (failure) {
        if (failure instanceof EngineRefusal && failure.kind === 'missing') return [];
        throw failure;
      }
    };
    return this.#asking(id, 'measuring a container', async (engine) =>
      (await Promise.all(running.map((instance) => measure(engine, instance.id)))).flat(),
    );
  }

  async exec(id: Uuid, command: readonly string[], instanceId?: string): Promise<ExecResult> {
    const instance = this.#instanceOf(id, instanceId);
    return this.#asking(id, 'running a command in a container', (engine) => engine.exec(instance.id, command));
  }

  async openShell(id: Uuid, size: TerminalSize, instanceId?: string): Promise<Shell> {
    const instance = this.#instanceOf(id, instanceId);
    return this.#asking(id, 'opening a terminal', (engine) => engine.openShell(instance.id, size));
  }

  /** Rejects with what a shell could not be opened for now: 409 without such an instance, 503 without an engine. */
  async requireInstance(id: Uuid, instanceId?: string): Promise<void> {
    await this.#asking(id, 'opening a terminal', (engine) => engine.beat());
    this.#instanceOf(id, instanceId);
  }

  engines(): EngineView[] {
    return this.#running.engines.views();
  }

  async retryEngines(): Promise<EngineView[]> {
    await Promise.all(this.#running.engines.all().map((connection) => connection.retry()));
    return this.engines();
  }

  #instanceOf(id: Uuid, instanceId = ''): Instance {
    const instance = this.#instancesOf(id).find((candidate) => candidate.id.startsWith(instanceId));
    if (!instance) throw new PlatformError('invalid_state', 'this instance of the container is not running');
    return instance;
  }

  #instancesOf(id: Uuid): Instance[] {
    return (this.#running.findRunner(id)?.instances ?? []).filter(({ state }) => state === 'running');
  }

  async #asking<T>(id: Uuid, activity: string, work: (engine: DockerEngine) => Promise<T>): Promise<T> {
    return answering(activity, async () => work(await this.#attachedTo(id).engineNow()));
  }

  #attachedTo(id: Uuid): EngineConnection {
    const record = this.#view.find(id);
    const attached = record && this.#running.engines.find(record);
    if (!attached) throw new PlatformError('not_found', `container ${id} not found`);
    return attached;
  }
}

/** Turns a missing engine and the engine's rejections into errors for the client (D-050, D-183). */
async function answering<T>(activity: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    if (failure instanceof EngineUnreachable) {
      throw new PlatformError('engine_unavailable', `${activity} requires the container engine: ${failure.message}`, {
        headers: { 'Retry-After': ENGINE_RETRY_S },
        cause: failure,
      });
    }
    if (failure instanceof EngineRefusal)
      throw new PlatformError('operation_failed', `${activity} failed: ${failure.message}`, { cause: failure });
    throw failure;
  }
}
