import path from 'node:path';
import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, Invocation, LambdaCall, LambdaInvoker, LogLine, Outcome } from '../model/invocation.ts';
import { type LogParameters, parseLogQuery, selectLines } from '../model/log-query.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import { Debugging, type DebugState } from './debugging.ts';
import { LambdaCode } from './lambda-code.ts';
import { findLambda, isLambda, type LambdaDefinition, readDefinition } from './lambda-definition.ts';
import { failed, interrupted, LambdaFailure } from './lambda-failure.ts';
import { LambdaPool } from './lambda-pool.ts';
import { LambdaProcesses, type ProcessSettings } from './lambda-processes.ts';
import { type KeptLines, LogRings } from './log-rings.ts';
import { Periodic, type Schedule } from './periodic.ts';
import type { PoolHost } from './pool-host.ts';
import type { RecentCalls } from './recent-calls.ts';
import { RunningCall } from './running-call.ts';
import { isNode } from './runtimes.ts';

/** Bounds of D-142 and D-185; each has a default. */
export interface LambdaLimits {
  /** Processes of one lambda at a time. */
  concurrency: number;
  /** Processes of all lambdas together, spares included. */
  processes: number;
  /** Calls of one lambda that may wait. */
  queue: number;
  /** Size of a handler's result. */
  resultBytes: number;
  /** Highest effective timeout of a lambda, seconds. */
  timeoutMaxS: number;
  /** Lines kept of each lambda's output, and of each invocation's. */
  logLines: number;
  /** A process without work leaves after this time. */
  idleMs: number;
  /** Generic processes kept ready for lambdas that have none. */
  spares: number;
}

export interface LambdaServiceOptions
  extends Omit<ProcessSettings, 'limits' | 'code' | 'debugging' | 'endIdle' | 'sayOnce'> {
  view: WorldView;
  /** Clock, epoch milliseconds. */
  nowMs(): number;
  /** The emulator's own folder for homes, code and packages; no two services may share it. */
  scratchDir: string;
  /** Throws while nothing in it may be touched, because it is somebody else's now. */
  checkScratch?(): void;
  /** A folder with a `node_modules` whose packages every lambda can load; none unless given. */
  modules?: string;
  limits?: Partial<LambdaLimits>;
  /** Told of every invocation when it is over, refused ones too. */
  onInvocation?(invocation: Invocation, call: LambdaCall): void;
  /** Told of every invocation that was accepted, before it waits or runs. */
  onBegin?(begun: BegunInvocation): void;
  /** Given every call that was accepted. */
  recentCalls?: RecentCalls;
  /** Told whenever the debugging of a lambda begins, ends or comes further, or when one runs next by the clock. */
  onDebug?(): void;
  /** Are lambdas run by the clock (D-056)? No unless given. */
  periodic?: boolean;
  /** Told of every line that a lambda writes, at once. */
  onLog?(lambdaId: Uuid, line: LogLine): void;
  /** Where lines outlive this process. */
  keptLines?: KeptLines | undefined;
}

const DEFAULT_LIMITS: LambdaLimits = {
  concurrency: 10,
  processes: 100,
  queue: 100,
  resultBytes: 10 * 1024 * 1024,
  timeoutMaxS: 500,
  logLines: 10_000,
  idleMs: 5 * 60_000,
  spares: 1,
};

/** Some lines of a log, oldest first. */
export interface LogPage {
  lines: LogLine[];
  /** Where the next page begins. */
  cursor: string;
  /** Have lines gone before this page could be read? */
  hasGap: boolean;
}

/** What is known of a lambda as of some state of the world. */
interface Known {
  /** Number of world changes seen when it was read. */
  asOf: number;
  pool: LambdaPool | undefined;
  /** Why the definition cannot be run at all. */
  refused: Outcome | undefined;
}

/** Runs lambdas in child processes (D-135 .. D-142). */
export class LambdaService implements LambdaInvoker {
  readonly #options: LambdaServiceOptions;
  readonly #limits: LambdaLimits;
  readonly #host: PoolHost;
  readonly #code: LambdaCode;
  /** Lines that a lambda's log has been given once. */
  readonly #said = new Set<string>();
  /** How often each lambda's package was told to be fetched again. */
  readonly #editions = new Map<Uuid, number>();
  readonly #processes: LambdaProcesses;
  readonly #debugging: Debugging;
  readonly #periodic: Periodic;
  readonly #known = new Map<Uuid, Known>();
  readonly #logs: LogRings;
  #changes = 0;
  #isStopped = false;

  constructor(options: LambdaServiceOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logs = new LogRings(this.#limits.logLines, undefined, options.keptLines);
    this.#code = new LambdaCode(path.resolve(options.scratchDir), options.nowMs, options.checkScratch, options.modules);
    this.#debugging = new Debugging(options.nowMs, () => options.onDebug?.());
    const debugging = this.#debugging;
    this.#processes = new LambdaProcesses({
      ...options,
      limits: this.#limits,
      code: this.#code,
      debugging,
      endIdle: () => this.#endIdlest(),
      sayOnce: (lambdaId, text) => this.#sayOnce(lambdaId, text),
    });
    this.#periodic = new Periodic({
      view: options.view,
      invoker: this,
      isOn: options.periodic ?? false,
      nowMs: options.nowMs,
      onChange: () => options.onDebug?.(),
      say: (lambdaId, text) => this.#say(lambdaId, text),
    });
    this.#host = {
      limits: this.#limits,
      processes: this.#processes,
      nowMs: options.nowMs,
      onLine: (lambdaId, line) => this.#addLine(lambdaId, line),
      onBegin: ({ call: { executionId, trigger }, acceptedAtMs }, { id, name }) =>
        options.onBegin?.({ executionId, trigger, acceptedAtMs, lambdaId: id, lambdaName: name }),
      onInvocation: (invocation, call) => options.onInvocation?.(invocation, call),
    };
  }

  /**
   * Starts the spares and what the world's lambdas want kept ready (pre_warm). Rejects when the bootstrap has not been built.
   */
  async start(): Promise<void> {
    const lambdas = this.#options.view.all('lambdas');
    await this.#code.clear();
    await this.#processes.start(lambdas.length > 0);
    this.#warm(lambdas);
    this.#periodic.start();
  }

  /** Processes that live, spares included, and what they are doing. */
  stats(): { processes: number; spares: number; running: number; waiting: number } {
    const pools = [...this.#known.values()].flatMap(({ pool }) => (pool ? [pool.stats] : []));
    return {
      ...this.#processes.stats,
      running: pools.reduce((sum, { running }) => sum + running, 0),
      waiting: pools.reduce((sum, { waiting }) => sum + waiting, 0),
    };
  }

  invoke(lambdaId: Uuid, call: LambdaCall): Promise<Invocation> {
    const { pool, refused } = this.#look(lambdaId);
    if (pool && !refused) {
      this.#options.recentCalls?.add(call, pool.definition);
      return pool.invoke(call);
    }
    const running = new RunningCall(call, this.#options.nowMs(), 0);
    const lambda = { id: lambdaId, name: this.#options.view.find(lambdaId)?.name ?? '', accept: undefined };
    // Without a pool there always is a reason; the type cannot say so.
    const invocation = running.finish(lambda, refused ?? failed(deleted(lambdaId)), this.#options.nowMs());
    this.#options.onInvocation?.(invocation, call);
    return running.done;
  }

  refusal(lambdaId: Uuid): Outcome | undefined {
    const { pool, refused } = this.#look(lambdaId);
    return refused ?? pool?.refusal();
  }

  holdPlace(lambdaId: Uuid): () => void {
    return this.#look(lambdaId).pool?.holdPlace() ?? (() => {});
  }

  /** To be told of every commit: new definitions hold from the next invocation on, processes of deleted lambdas end. */
  changed(changes: readonly Change[]): void {
    this.#changes += 1;
    this.#periodic.changed(changes);
    for (const { before, after } of changes) {
      if (before && !after && isLambda(before)) this.#forget(before.id);
    }
    const lambdas = changes.flatMap(({ after }) => (after && isLambda(after) ? [after] : []));
    for (const { id } of lambdas) {
      this.#processes.expect(id);
      if (this.#known.get(id)?.pool?.hasProcess) this.#look(id);
    }
    this.#warm(lambdas);
    for (const [lambdaId, { pool }] of this.#known) if (pool?.keepsWarm) this.#look(lambdaId);
  }

  /** From its next call on a lambda's package is fetched anew (D-057). */
  refetch(lambdaId: Uuid): void {
    this.#editions.set(lambdaId, (this.#editions.get(lambdaId) ?? 0) + 1);
    this.#code.refetch(lambdaId);
    this.#changes += 1;
    this.#look(lambdaId);
  }

  /** How its debugging goes; undefined while it is not debugged. */
  debugState(lambdaId: Uuid): DebugState | undefined {
    return this.#debugging.find(lambdaId);
  }

  /**
   * From its next call on the lambda runs in one process that a debugger can attach to, without a time-out.
   *
   * @throws PlatformError 409 while too many others are debugged
   */
  debug(lambdaId: Uuid): void {
    this.#debugging.begin(lambdaId);
    this.#changes += 1;
    const { refused } = this.#look(lambdaId);
    if (refused && !refused.ok) this.#debugging.lost(lambdaId, undefined, refused.message);
  }

  /** It runs as it does otherwise; what stands at a breakpoint ends as `interrupted`. */
  endDebugging(lambdaId: Uuid): void {
    if (!this.#debugging.isOf(lambdaId)) return;
    this.#debugging.end(lambdaId);
    this.#changes += 1;
    this.#look(lambdaId);
  }

  /** When a lambda runs by the clock; undefined when its record has no period. */
  schedule(lambdaId: Uuid): Schedule | undefined {
    return this.#periodic.find(lambdaId);
  }

  /** Lets the rules about outbound calls that there are now hold for every lambda, from the next call on that comes when this has resolved. */
  applyRules(): Promise<void> {
    return this.#processes.applyRules();
  }

  /** Begins the logs of all lambdas anew. */
  forgetLogs(): void {
    this.#logs.forgetAll();
  }

  /** Lines of a lambda's log, newest last (D-191). Throws 400 for a query that cannot be read. */
  log(lambdaId: Uuid, query: LogParameters): string[] {
    return this.readLog(lambdaId, query).lines.map(({ text }) => text);
  }

  /**
   * The same, line by line with a cursor: given back as `after`, it leads to what has come since.
   *
   * @throws PlatformError 400 for a query or a cursor that cannot be read
   */
  readLog(lambdaId: Uuid, query: LogParameters & { after?: string | undefined }): LogPage {
    const wanted = parseLogQuery(query, this.#options.nowMs());
    const ring = this.#logs.wholeOf(lambdaId);
    const { cursor } = ring;
    if (query.after === undefined) return { lines: selectLines(ring.lines(), wanted), cursor, hasGap: false };
    const { lines, hasGap } = ring.after(query.after);
    return { lines: selectLines(lines, { ...wanted, newest: Number.POSITIVE_INFINITY }), cursor, hasGap };
  }

  /** Ends all processes; what runs or waits ends as `interrupted`. Resolves when no child is left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#periodic.stop();
    const reason = interrupted();
    await Promise.all([...this.#known.values()].map(({ pool }) => pool?.close(reason)));
    await this.#processes.stop(reason);
    await this.#code.stop();
  }

  /** The lambda's pool as the world is now, or why there is none. */
  #look(lambdaId: Uuid): Pick<Known, 'pool' | 'refused'> {
    if (this.#isStopped) return { pool: undefined, refused: failed(interrupted()) };
    const lambda = findLambda(this.#options.view, lambdaId);
    if (!lambda) return { pool: undefined, refused: failed(deleted(lambdaId)) };
    const known = this.#known.get(lambdaId);
    if (known?.asOf === this.#changes) return known;
    const read = { ...this.#read(lambda, known?.pool), asOf: this.#changes };
    this.#known.set(lambdaId, read);
    return read;
  }

  #read(lambda: StoredResource, pool: LambdaPool | undefined): Pick<Known, 'pool' | 'refused'> {
    try {
      const definition = readDefinition(
        this.#options.view,
        lambda,
        this.#limits.timeoutMaxS,
        this.#debugging.isOf(lambda.id),
        this.#editions.get(lambda.id),
      );
      if (!isNode(definition.runtime)) return { pool, refused: failed(notEmulated(definition)) };
      pool?.update(definition);
      return { pool: pool ?? new LambdaPool(this.#host, definition), refused: undefined };
    } catch (thrown) {
      const reason = reasonOf(thrown);
      return { pool, refused: failed({ failure: 'load', message: `the lambda's record cannot be used: ${reason}` }) };
    }
  }

  #warm(lambdas: readonly StoredResource[]): void {
    for (const { id, properties } of lambdas) if (Number(properties.pre_warm) > 0) this.#look(id);
  }

  /** Of all processes without work the one that has had none for longest leaves. */
  #endIdlest(): boolean {
    const pools = [...this.#known.values()].flatMap(({ pool }) => (pool?.idleSinceMs === undefined ? [] : [pool]));
    const [idlest] = pools.sort((one, other) => (one.idleSinceMs ?? 0) - (other.idleSinceMs ?? 0));
    idlest?.endIdlest();
    return idlest !== undefined;
  }

  #sayOnce(lambdaId: Uuid, text: string): void {
    const key = `${lambdaId} ${text}`;
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#say(lambdaId, text);
  }

  #say(lambdaId: Uuid, text: string): void {
    this.#addLine(lambdaId, { atMs: this.#options.nowMs(), stream: 'stderr', text: `[terrarium] ${text}` });
  }

  #forget(lambdaId: Uuid): void {
    if (this.#debugging.isOf(lambdaId)) this.#debugging.end(lambdaId);
    const known = this.#known.get(lambdaId);
    this.#known.delete(lambdaId);
    const ended = known?.pool?.close(deleted(lambdaId)) ?? Promise.resolve();
    const clean = async (): Promise<void> => {
      await ended;
      // An undone deletion may have brought it back in the meantime.
      if (this.#known.has(lambdaId)) return;
      this.#logs.forget(lambdaId);
      await this.#code.forget(lambdaId);
    };
    // Files that cannot be removed now are removed at the next start.
    clean().catch(() => {});
  }

  #addLine(lambdaId: Uuid, line: LogLine): void {
    this.#logs.add(lambdaId, line);
    this.#options.onLog?.(lambdaId, line);
  }
}

function deleted(lambdaId: Uuid): LambdaFailure {
  return new LambdaFailure('deleted', `there is no lambda ${lambdaId}; it has been deleted`);
}

function notEmulated({ name, runtime }: LambdaDefinition): LambdaFailure {
  return new LambdaFailure('runtime', `lambda '${name}' has the runtime '${runtime}'; only NodeJS is emulated`);
}
