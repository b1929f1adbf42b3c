import { existsSync } from 'node:fs';
import { pid as processId } from 'node:process';
import { reasonOf } from '../../../model/errors.ts';
import { canonicalHost } from '../../../model/host-names.ts';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import type { Uuid } from '../../../model/record.ts';
import { missingNode, nodeProgram } from '../../../system/node-program.ts';
import { ProcessReaper } from '../../../system/process-tree.ts';
import { ownMemoryMb } from '../../../system/processes.ts';
import type { System } from '../../../system/this-system.ts';
import type { CodeFiles } from '../code/code-files.ts';
import type { LambdaCode, PreparedCode } from '../code/lambda-code.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';
import { interrupted, LambdaFailure } from '../lambda-failure.ts';
import { ChildProcessChannel } from './child-process-channel.ts';
import type { Debugging } from './debugging.ts';
import {
  addressesOf,
  hostEnvironment,
  hostsOf,
  isReadAtStart,
  lambdaEnvironment,
  namedForms,
  ownCrm,
  type PlatformAddresses,
} from './lambda-environment.ts';
import { LambdaProcess } from './lambda-process.ts';
import { OrphanedProcesses } from './orphaned-processes.ts';
import { fitsSpare, SPARE, type StartFields } from './process-group.ts';
import { outOfMemory } from './process-messages.ts';
import type { MockAddress, OutboundRoutes, PortRoute } from './protocol.ts';
import { NodeVersions } from './runtimes.ts';
import { ProcessSlots, SpareProcesses } from './spare-processes.ts';

/** Between two looks; memory is filled by a few hundred MB in that time. */
const INTERVAL_MS = 200;
/** Memory of Node itself, in addition to the lambda's limit. */
const RUNTIME_MB = 64;
/** Most garbage that a process may have that is too busy to throw it away. */
const GARBAGE_MB = 160;

/**
 * Limits the memory of processes. V8 limits the heap; buffers lie outside of it, and a lambda that fills them would take all
 * that the machine has. A process whose heap could hold more than the lambda may have is asked to throw its garbage away first: what
 * it still has then, it uses. Where the system does not show the memory of a process, the process reports it whenever it waits.
 */
class MemoryWatch {
  readonly #processes = new Set<LambdaProcess>();
  #timer: NodeJS.Timeout | undefined;

  add(process: LambdaProcess): void {
    this.#processes.add(process);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL_MS).unref();
    void process.exited.then(() => {
      this.#processes.delete(process);
      if (this.#processes.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const process of this.#processes) {
      const usedMb = process.reportedMb ?? (process.pid === undefined ? undefined : ownMemoryMb(process.pid));
      if (usedMb === undefined) continue;
      const overMb = usedMb - process.memoryMb - RUNTIME_MB;
      if (overMb <= 0) {
        if (process.hasCollected) process.hasCollected = undefined;
      } else if (!process.isRoomy || overMb > GARBAGE_MB || process.hasCollected) {
        process.kill(new LambdaFailure('crash', outOfMemory(process.memoryMb)));
      } else if (process.hasCollected === undefined) process.collectGarbage();
    }
  }
}

export interface ProcessSettings {
  childFile: string;
  /** Variables of the host, this process's own unless given; of them only PATH, TZ and LANG reach a lambda (D-113). */
  hostEnv?: Readonly<Record<string, string | undefined>>;
  addresses(): PlatformAddresses;
  outbound: {
    /** The destination of calls to a lambda's CRM that no rule matches (D-200): the mock, or the real host. */
    crm: 'catch' | 'pass';
    crmHosts?: readonly string[];
    /** The action for calls to hosts outside this machine that no rule matches (default: pass). */
    default?: 'pass' | 'block';
    /** Returns the address of the mock, with TLS when there is a certificate; undefined while it does not listen. */
    crmAddress(): MockAddress | Promise<MockAddress> | undefined;
    /** Returns the mocks that receive all connections to some ports (default: none). */
    portRoutes?(): readonly PortRoute[] | Promise<readonly PortRoute[]>;
    /** The outbound rules, in the order in which they apply (default: none). */
    rules?(): readonly OutboundRule[];
  };
  limits: { resultBytes: number; logLines: number; spares: number; processes: number };
  steadyMs(): number;
  /** Ends the process of a lambda that has been without work for longest; false when all are at work. */
  endIdle(): boolean;
  logOnce(lambdaId: Uuid, text: string): void;
  code: LambdaCode;
  debugging: Debugging;
  system?: System | undefined;
}

interface OpenedProcess {
  process: LambdaProcess;
  revision: string;
  /** The watched files that reveal a change of that content, if it can change while the process runs. */
  watched: CodeFiles | undefined;
}

export class LambdaProcesses {
  readonly #settings: ProcessSettings;
  readonly #hostEnv: Record<string, string>;
  readonly #nodes: NodeVersions;
  readonly #node: string | undefined;
  readonly #spares: SpareProcesses;
  readonly slots: ProcessSlots;
  readonly #living = new Set<LambdaProcess>();
  readonly #ruleCalls = new RuleCalls();
  readonly #proxy = new ChildProcessChannel((ruleId) => this.#ruleCalls.next(ruleId));
  readonly #registrations = new Set<ReturnType<ChildProcessChannel['register']>>();
  readonly #memory = new MemoryWatch();
  readonly #descendants = new OrphanedProcesses();
  readonly #reaper = new ProcessReaper(this.#descendants.platform);
  #clockAheadMs = 0;
  #isStopped = false;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
    this.#hostEnv = hostEnvironment(settings.hostEnv ?? process.env);
    this.#nodes = new NodeVersions(this.#hostEnv.PATH ?? '');
    this.#node = nodeProgram(this.#hostEnv.PATH ?? '');
    const { limits, steadyMs, endIdle } = settings;
    this.slots = new ProcessSlots({ max: limits.processes, endIdle: () => this.#spares.end() || endIdle() });
    this.#spares = new SpareProcesses({
      least: limits.spares,
      steadyMs,
      start: () =>
        this.#node !== undefined && this.slots.tryTake() ? this.#fork(SPARE, this.#hostEnv, this.#node) : undefined,
    });
  }

  get stats(): { processes: number; spares: number } {
    return { processes: this.#living.size, spares: this.#spares.size };
  }

  /** Starts the spares; without lambdas, the first one does. Throws LambdaFailure when the bootstrap has not been built. */
  async start(hasLambdas: boolean): Promise<void> {
    await this.#proxy.open();
    this.#ruleCalls.use(this.#settings.outbound.rules?.() ?? []);
    this.#requireBootstrap();
    if (hasLambdas) this.#spares.begin();
    // No call waits for it, and what cannot be ended now is tried again at the next start.
    this.#descendants.endLeftovers().catch(() => {});
  }

  expect(lambdaId: Uuid): void {
    this.#spares.expect(lambdaId);
  }

  /** A spare that fits, else a new one, for which it may wait; undefined when it is not wanted any more. Rejects with LambdaFailure. */
  async open(
    definition: LambdaDefinition,
    adopt: (process: LambdaProcess) => void,
    isWanted: () => boolean,
  ): Promise<OpenedProcess | undefined> {
    let useEnded: Promise<unknown> = Promise.resolve();
    const adoptUser = (process: LambdaProcess) => {
      useEnded = process.exited;
      adopt(process);
    };
    try {
      const { release, ...code } = await this.#settings.code.prepare(definition);
      try {
        return await this.#load(code, definition, adoptUser, isWanted);
      } finally {
        void useEnded.then(release);
      }
    } catch (thrown) {
      if (definition.isDebugged) this.#settings.debugging.failed(definition.id, reasonOf(thrown));
      throw thrown;
    }
  }

  async #load(
    prepared: Omit<PreparedCode, 'release'>,
    ...[definition, adopt, isWanted]: Parameters<LambdaProcesses['open']>
  ): ReturnType<LambdaProcesses['open']> {
    const note = (text: string | undefined) => text && this.#settings.logOnce(definition.id, text);
    const { note: noteOfCode, revision, watched, temporaryFolder, ...code } = prepared;
    note(noteOfCode);
    note(definition.note);
    const executor = await this.#nodes.executor(definition.runtime);
    note(executor.note);
    if (this.#isStopped) throw interrupted();
    this.#requireBootstrap();
    const env = lambdaEnvironment(
      this.#hostEnv,
      this.#settings.addresses(),
      { home: code.home, temporaryFolder },
      definition,
    );
    const showsMemory = ownMemoryMb(processId, this.#settings.system) !== undefined;
    const takesSpare =
      fitsSpare(definition, showsMemory) && !isReadAtStart(definition.env) && executor.execPath === undefined;
    const spare = takesSpare ? this.#spares.take(definition.id) : undefined;
    if (!spare && !(await this.slots.take(isWanted))) {
      if (this.#isStopped) throw interrupted();
      return undefined;
    }
    const process = spare ?? this.#fork(definition, env, executor.execPath ?? this.#requireNode());
    adopt(process);
    if (definition.isDebugged) this.#settings.debugging.follow(process, definition.id, code.file);
    const { resultBytes } = this.#settings.limits;
    const mock = await this.#settings.outbound.crmAddress();
    const portRoutes = (await this.#settings.outbound.portRoutes?.()) ?? [];
    const origin = await this.#descendants.nextOrigin();
    process.onSubprocess = () => this.#descendants.follow(origin, process.exited);
    const registration = this.#proxy.register((...reported) => process.onReport(...reported));
    const { address: reportAddress } = registration;
    this.#registrations.add(registration);
    void process.exited.then(() => {
      registration.close();
      this.#registrations.delete(registration);
    });
    const outbound = { ...this.#routesOf(definition, mock, portRoutes), ...(reportAddress && { reportAddress }) };
    const { isDebugged, memoryMb } = definition;
    const clockAheadMs = this.#clockAheadMs;
    const load = { ...code, env, origin, clockAheadMs, resultLimitBytes: resultBytes, outbound, isDebugged };
    await process.load({ ...load, ...(!showsMemory && { reportsMemoryOverMb: memoryMb }) }, memoryMb);
    return { process, revision, watched };
  }

  /** Applies the current outbound rules to every process; resolves when their subprocesses have them, too. */
  async applyRules(): Promise<void> {
    const rules = this.#settings.outbound.rules?.() ?? [];
    this.#ruleCalls.use(rules);
    for (const process of this.#living) process.changeRules(rules);
    await Promise.all([...this.#registrations].map((registration) => registration.changeRules(rules)));
  }

  /** Lambdas see the platform's clock in `Date` (D-222); subprocesses that run already do not. */
  moveClock(byMs: number): void {
    this.#clockAheadMs += byMs;
    for (const process of this.#living) process.changeClock(this.#clockAheadMs);
  }

  /** Ends every process. Resolves when none is left; `why` is the failure of their calls. */
  async stop(why: LambdaFailure): Promise<void> {
    this.#isStopped = true;
    this.#spares.stop();
    this.slots.close();
    for (const process of this.#living) process.kill(why);
    await Promise.all([...this.#living].map(({ exited }) => exited));
    await this.#descendants.endAll();
    this.#reaper.stop();
    this.#proxy.close();
  }

  #fork(fields: StartFields, env: Record<string, string>, execPath: string): LambdaProcess {
    const { childFile, limits } = this.#settings;
    const started = new LambdaProcess({
      execPath,
      childFile,
      env,
      fields,
      resultLimitBytes: limits.resultBytes,
      logLimitLines: limits.logLines,
      reaper: this.#reaper,
      countCall: (ruleId) => this.#ruleCalls.next(ruleId),
    });
    this.#living.add(started);
    // Memory of a debugger does not count as the lambda's.
    if (!fields.isDebugged) this.#memory.add(started);
    void started.exited.then(() => {
      this.#living.delete(started);
      this.slots.release();
    });
    return started;
  }

  #requireNode(): string {
    if (this.#node !== undefined) return this.#node;
    throw new LambdaFailure('crash', missingNode());
  }

  #requireBootstrap(): void {
    const { childFile } = this.#settings;
    if (existsSync(childFile)) return;
    throw new LambdaFailure('crash', `the installation is incomplete: ${childFile} is missing; run 'npm run build'`);
  }

  get catchesCrm(): boolean {
    return this.#settings.outbound.crm === 'catch';
  }

  get ownHosts(): string[] {
    return hostsOf(this.#settings.addresses());
  }

  #routesOf(
    { env }: LambdaDefinition,
    mock: MockAddress | undefined,
    portRoutes: readonly PortRoute[],
  ): OutboundRoutes {
    const { crm: crmMode, crmHosts, default: policy, rules } = this.#settings.outbound;
    const ownHosts = [...this.ownHosts, ...(mock ? [mock.host] : [])];
    const mocks = [...(mock ? [mock] : []), ...portRoutes.map(({ address }) => address)];
    const crm = ownCrm(env, crmHosts, ownHosts);
    const catchesCrm = crmMode === 'catch' && mock !== undefined;
    return {
      ...(crm && { crm }),
      namedForms: namedForms(env),
      ownHosts,
      ownAddresses: [
        ...addressesOf(this.#settings.addresses()),
        ...mocks.map(({ host, port }) => ({ host: canonicalHost(host), port })),
      ],
      blocksOutside: policy === 'block',
      portRoutes,
      ...(mock && { mock }),
      catchesCrm,
      rules: rules?.() ?? [],
    };
  }
}

/** Counts the calls of all lambdas that outbound rules with `times` or `after` match, each from the last change of the rule. */
class RuleCalls {
  readonly #numbers = new Map<string, number>();
  #rules = new Map<string, string>();

  next(ruleId: string): number {
    const number = (this.#numbers.get(ruleId) ?? 0) + 1;
    if (this.#rules.has(ruleId)) this.#numbers.set(ruleId, number);
    return number;
  }

  /** Starts to count from 0 for rules that are new or have changed. */
  use(rules: readonly OutboundRule[]): void {
    const current = new Map(rules.map((rule) => [rule.id, JSON.stringify(rule)]));
    for (const [id, text] of this.#rules) if (current.get(id) !== text) this.#numbers.delete(id);
    this.#rules = current;
  }
}
