import { randomUUID } from 'node:crypto';
import type { Change } from '../../model/commit.ts';
import { reasonOf } from '../../model/errors.ts';
import type {
  Invocation,
  LambdaCall,
  LambdaInvoker,
  LogLine,
  Outcome,
  StartedInvocation,
} from '../../model/invocation.ts';
import { type LogParameters, parseLogQuery, selectLines } from '../../model/log-query.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { monotonicMs } from '../../system/clock.ts';
import { withoutLinks } from '../../system/temporary.ts';
import { LambdaCode } from './code/lambda-code.ts';
import { findLambda, isLambda, type LambdaDefinition, readDefinition } from './lambda-definition.ts';
import { failed, interrupted, LambdaFailure } from './lambda-failure.ts';
import { type KeptLines, LogRings } from './log-rings.ts';
import { Periodic, type Schedule } from './periodic.ts';
import { ActiveInvocation, type PoolHost } from './pool/active-invocation.ts';
import { LambdaPool } from './pool/lambda-pool.ts';
import { type DebuggerAddresses, Debugging, type DebugState } from './process/debugging.ts';
import { LambdaProcesses, type ProcessSettings } from './process/lambda-processes.ts';
import { OPEN_RECORD_MS } from './process/protocol.ts';
import { isNode } from './process/runtimes.ts';
import type { RecentCalls } from './recent-calls.ts';

/** Bounds of D-142 and D-185; each has a default. */
export interface LambdaLimits {
  concurrency: number;
  processes: number;
  queue: number;
  resultBytes: number;
  timeoutMaxS: number;
  /** Lines kept of each lambda's output, and of each invocation's. */
  logLines: number;
  idleMs: number;
  /** The record of an answered call stays open for its outbound calls at most this long (D-138). */
  openOutboundMs: number;
  /** Generic processes kept ready for lambdas that have none. */
  spares: number;
}

export interface LambdaServiceOptions
  extends Omit<ProcessSettings, 'steadyMs' | 'limits' | 'code' | 'debugging' | 'endIdle' | 'logOnce'> {
  view: WorldView;
  nowMs(): number;
  /** The clock of waits that setting the wall clock does not change; the monotonic clock by default. */
  steadyMs?(): number;
  /** The emulator's own folder for homes, code and packages; no two services may share it. */
  scratchDir: string;
  /** Throws while the data folder belongs to another process. */
  checkScratch?(): void;
  modules?: string;
  /** Link-local hosts that packages may come from; none unless given. */
  linkLocalHosts?: readonly string[];
  limits?: Partial<LambdaLimits>;
  /** Called at the end of every invocation, also of refused ones. */
  onInvocation?(invocation: Invocation, call: LambdaCall): void;
  /** Called for every invocation that was accepted, before it waits or runs. */
  onBegin?(invocation: StartedInvocation): void;
  recentCalls?: RecentCalls;
  /** Called when debugging of a lambda starts, stops or changes its state, and when the next scheduled run changes. */
  onDebug?(): void;
  /** The addresses of debuggers; by default any free ports, with a random end. */
  debuggers?: DebuggerAddresses;
  /** Are lambdas run by the clock (D-056)? No unless given. */
  periodic?: boolean;
  onLog?(lambdaId: Uuid, line: LogLine): void;
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
  openOutboundMs: OPEN_RECORD_MS,
  spares: 1,
};

export interface LogPage {
  lines: LogLine[];
  cursor: string;
  hasGap: boolean;
}

/** Without a pool there is a reason why invocations are refused. */
type Lookup = { pool: LambdaPool; refused: undefined } | { pool: LambdaPool | undefined; refused: Outcome };
type LambdaEntry = Lookup & { asOf: number };

/** Runs lambdas in child processes (D-135 .. D-142). */
export class LambdaService implements LambdaInvoker {
  readonly #options: LambdaServiceOptions;
  readonly #limits: LambdaLimits;
  readonly #host: PoolHost;
  readonly #code: LambdaCode;
  readonly #reportedMessages = new Set<string>();
  readonly #editions = new Map<Uuid, number>();
  readonly #processes: LambdaProcesses;
  readonly #debugging: Debugging;
  readonly #periodic: Periodic;
  readonly #entries = new Map<Uuid, LambdaEntry>();
  readonly #logs: LogRings;
  #changes = 0;
  #isStopped = false;

  constructor(options: LambdaServiceOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logs = new LogRings(this.#limits.logLines, undefined, options.keptLines);
    const { scratchDir, steadyMs = monotonicMs, checkScratch, modules, linkLocalHosts } = options;
    this.#code = new LambdaCode(withoutLinks(scratchDir), steadyMs, checkScratch, modules, linkLocalHosts);
    const { debuggers = { port: 0, idOf: () => randomUUID() } } = options;
    this.#debugging = new Debugging(options.nowMs, () => options.onDebug?.(), debuggers);
    const debugging = this.#debugging;
    this.#processes = new LambdaProcesses({
      ...options,
      steadyMs,
      limits: this.#limits,
      code: this.#code,
      debugging,
      endIdle: () => this.#endIdlest(),
      logOnce: (lambdaId, text) => this.#logOnce(lambdaId, text),
    });
    this.#periodic = new Periodic({
      view: options.view,
      invoker: this,
      isOn: options.periodic ?? false,
      nowMs: options.nowMs,
      monotonicMs,
      onChange: () => options.onDebug?.(),
      logLine: (lambdaId, text) => this.logMessage(lambdaId, text),
    });
    this.#host = {
      limits: this.#limits,
      processes: this.#processes,
      nowMs: options.nowMs,
      onLine: (lambdaId, line) => {
        this.#logs.add(lambdaId, line);
        options.onLog?.(lambdaId, line);
      },
      onConnection: (localPort, executionId) => options.recentCalls?.addConnection(localPort, executionId),
      ...(options.onBegin && { onBegin: options.onBegin }),
      ...(options.onInvocation && { onInvocation: options.onInvocation }),
    };
  }

  /** Starts spare processes and those that lambdas of the world keep ready (pre_warm). Rejects if the bootstrap has not been built. */
  async start(): Promise<void> {
    const lambdas = this.#options.view.all('lambdas');
    await this.#code.clear();
    await this.#processes.start(lambdas.length > 0);
    this.#warm(lambdas);
    this.#periodic.start();
  }

  stats(): { processes: number; spares: number; running: number; waiting: number } {
    const pools = [...this.#entries.values()].flatMap(({ pool }) => (pool ? [pool.stats] : []));
    return {
      ...this.#processes.stats,
      running: pools.reduce((sum, { running }) => sum + running, 0),
      waiting: pools.reduce((sum, { waiting }) => sum + waiting, 0),
    };
  }

  invoke(lambdaId: Uuid, call: LambdaCall): Promise<Invocation> {
    const { pool, refused } = this.#look(lambdaId);
    if (!refused) {
      this.#options.recentCalls?.add(call, pool.definition);
      return pool.invoke(call);
    }
    const lambda = { id: lambdaId, name: this.#options.view.find(lambdaId)?.name ?? '', accept: undefined };
    const running = new ActiveInvocation(call, lambda, this.#options.nowMs());
    running.finish(lambda, refused);
    this.#options.onInvocation?.(running, call);
    return running.done;
  }

  refusal(lambdaId: Uuid): Outcome | undefined {
    const { pool, refused } = this.#look(lambdaId);
    return refused ?? pool?.refusal();
  }

  reserveSlot(lambdaId: Uuid): () => void {
    return this.#look(lambdaId).pool?.reserveSlot() ?? (() => {});
  }

  /** Call it for every commit: new definitions apply from the next invocation, and processes of deleted lambdas end. */
  changed(changes: readonly Change[]): void {
    this.#changes += 1;
    this.#periodic.changed(changes);
    for (const { before, after } of changes) {
      if (before && !after && isLambda(before)) this.#forget(before.id);
    }
    const lambdas = changes.flatMap(({ after }) => (after && isLambda(after) ? [after] : []));
    for (const { id } of lambdas) {
      this.#processes.expect(id);
      if (this.#entries.get(id)?.pool?.hasProcess) this.#look(id);
    }
    this.#warm(lambdas);
    for (const [lambdaId, { pool }] of this.#entries) if (pool?.keepsWarm) this.#look(lambdaId);
  }

  /** From its next call on a lambda's package is fetched again (D-057). */
  refetch(lambdaId: Uuid): void {
    this.#editions.set(lambdaId, (this.#editions.get(lambdaId) ?? 0) + 1);
    this.#changes += 1;
    this.#look(lambdaId);
  }

  debugState(lambdaId: Uuid): DebugState | undefined {
    return this.#debugging.find(lambdaId);
  }

  /** From its next call on the lambda runs in one debuggable process, without a timeout. Throws 409 while too many others are debugged. */
  debug(lambdaId: Uuid): void {
    this.#debugging.begin(lambdaId);
    this.#changes += 1;
    const { refused } = this.#look(lambdaId);
    if (refused && !refused.ok) this.#debugging.failed(lambdaId, refused.message);
  }

  /** It runs as usual again. An invocation at a breakpoint ends as `interrupted`. */
  endDebugging(lambdaId: Uuid): void {
    if (!this.#debugging.isOf(lambdaId)) return;
    this.#debugging.end(lambdaId);
    this.#changes += 1;
    this.#look(lambdaId);
  }

  schedule(lambdaId: Uuid): Schedule | undefined {
    return this.#periodic.find(lambdaId);
  }

  /** Call it when the clock has moved (D-222). */
  clockMoved(byMs: number): void {
    this.#processes.moveClock(byMs);
    this.#periodic.clockMoved(byMs);
  }

  /** Lets the rules about outbound calls that there are now hold for every lambda, from the next call on that comes when this has resolved. */
  applyRules(): Promise<void> {
    return this.#processes.applyRules();
  }

  forgetLogs(): void {
    this.#logs.forgetAll();
  }

  /** Lines of a lambda's log, newest last (D-191). Throws 400 for a query that cannot be read. */
  log(lambdaId: Uuid, query: LogParameters): string[] {
    return this.readLog(lambdaId, query).lines.map(({ text }) => text);
  }

  /** One page; its `after` is the cursor for what follows. Throws 400 for a query or cursor that cannot be read. */
  readLog(lambdaId: Uuid, query: LogParameters & { after?: string | undefined }): LogPage {
    const logQuery = parseLogQuery(query, this.#options.nowMs());
    const ring = this.#logs.wholeOf(lambdaId);
    const { cursor } = ring;
    if (query.after === undefined) return { lines: selectLines(ring.lines(), logQuery), cursor, hasGap: false };
    const { lines, hasGap } = ring.after(query.after);
    return { lines: selectLines(lines, { ...logQuery, newest: Number.POSITIVE_INFINITY }), cursor, hasGap };
  }

  /** Ends all processes. Running and waiting invocations end as `interrupted`. Resolves when no child process is left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#periodic.stop();
    this.#debugging.stop();
    const reason = interrupted();
    await Promise.all([...this.#entries.values()].map(({ pool }) => pool?.close(reason)));
    await this.#processes.stop(reason);
    await this.#code.stop();
  }

  #look(lambdaId: Uuid): Lookup {
    if (this.#isStopped) return { pool: undefined, refused: failed(interrupted()) };
    // The view shows a deletion before its commit is durable and this service hears of it.
    const lambda = findLambda(this.#options.view, lambdaId);
    if (!lambda) return { pool: undefined, refused: failed(deleted(lambdaId)) };
    if (lambda.state === 'Pending') return { pool: undefined, refused: failed(pending(lambda)) };
    const entry = this.#entries.get(lambdaId);
    if (entry?.asOf === this.#changes) return entry;
    const read = { ...this.#read(lambda, entry?.pool), asOf: this.#changes };
    this.#entries.set(lambdaId, read);
    return read;
  }

  #read(lambda: StoredResource, pool: LambdaPool | undefined): Lookup {
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

  /** Stops the process that has been idle longest. */
  #endIdlest(): boolean {
    const pools = [...this.#entries.values()].flatMap(({ pool }) => (pool?.idleSinceMs === undefined ? [] : [pool]));
    const [idlest] = pools.sort((a, other) => (a.idleSinceMs ?? 0) - (other.idleSinceMs ?? 0));
    idlest?.endIdlest();
    return idlest !== undefined;
  }

  #logOnce(lambdaId: Uuid, text: string): void {
    const key = `${lambdaId} ${text}`;
    if (this.#reportedMessages.has(key)) return;
    this.#reportedMessages.add(key);
    this.logMessage(lambdaId, text);
  }

  logMessage(lambdaId: Uuid, text: string): void {
    this.#host.onLine(lambdaId, { atMs: this.#options.nowMs(), stream: 'stderr', text: `[terrarium] ${text}` });
  }

  #forget(lambdaId: Uuid): void {
    if (this.#debugging.isOf(lambdaId)) this.#debugging.end(lambdaId);
    const entry = this.#entries.get(lambdaId);
    this.#entries.delete(lambdaId);
    const ended = entry?.pool?.close(deleted(lambdaId)) ?? Promise.resolve();
    const clean = async (): Promise<void> => {
      await ended;
      // An undone deletion may have brought it back in the meantime.
      if (this.#entries.has(lambdaId)) return;
      this.#logs.forget(lambdaId);
      await this.#code.forget(lambdaId);
    };
    // Files that cannot be removed now are removed at the next start.
    clean().catch(() => {});
  }
}

function deleted(lambdaId: Uuid): LambdaFailure {
  return new LambdaFailure('deleted', `lambda ${lambdaId} does not exist; it was deleted`);
}

function pending({ name }: StoredResource): LambdaFailure {
  const advice = 'Remove the rule, then create the lambda again.';
  return new LambdaFailure('pending', `lambda '${name}' does not run: a rule suppressed its creation. ${advice}`);
}

function notEmulated({ name, runtime }: LambdaDefinition): LambdaFailure {
  return new LambdaFailure('runtime', `lambda '${name}' has the runtime '${runtime}'; only Node.js is supported`);
}
