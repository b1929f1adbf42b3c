import { existsSync } from 'node:fs';
import type { Uuid } from '../model/ids.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import { reasonOf } from '../model/reason.ts';
import type { Debugging } from './debugging.ts';
import { Descendants } from './descendants.ts';
import type { LambdaCode } from './lambda-code.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import {
  crmHostIn,
  hostEnvironment,
  isReadAtStart,
  lambdaEnvironment,
  type PlatformAddresses,
} from './lambda-environment.ts';
import { interrupted, LambdaFailure } from './lambda-failure.ts';
import { LambdaProcess } from './lambda-process.ts';
import { MemoryWatch } from './memory-watch.ts';
import { OffspringDoor } from './offspring-door.ts';
import { ProcessPlaces } from './process-places.ts';
import type { OutboundRoutes, StandInAddress } from './protocol.ts';
import { Reaper } from './reaper.ts';
import { NodeVersions } from './runtimes.ts';
import { SpareProcesses } from './spare-processes.ts';

/** What processes are made from. */
export interface ProcessSettings {
  /** Path of the bundled bootstrap (scripts/build-child.mjs). */
  childFile: string;
  /** The Node or Electron to run lambdas with; this process's own unless given. */
  execPath?: string;
  /** Variables of the host, this process's own unless given; of them only PATH, TZ and LANG reach a lambda (D-113). */
  hostEnv?: Readonly<Record<string, string | undefined>>;
  /** Read whenever a process is given its environment. */
  addresses(): PlatformAddresses;
  outbound: {
    /** Do calls to a lambda's CRM that no rule means go to the stand-in (D-200)? */
    crm: 'catch' | 'pass';
    /** Where the stand-in listens, with TLS when there is a certificate; undefined while it does not. */
    crmAddress(): StandInAddress | Promise<StandInAddress> | undefined;
    /** What is to become of calls, in the order in which the rules are asked; none unless given. */
    rules?(): readonly OutboundRule[];
  };
  limits: { resultBytes: number; logLines: number; spares: number; processes: number };
  nowMs(): number;
  /** Ends the process of a lambda that has been without work for longest; false when all are at work. */
  endIdle(): boolean;
  /** A line for a lambda's log, where it has not stood yet. */
  sayOnce(lambdaId: Uuid, text: string): void;
  code: LambdaCode;
  debugging: Debugging;
}

/** A process with a lambda loaded, and which content of its package that is. */
interface OpenedProcess {
  process: LambdaProcess;
  revision: string;
}

/** Memory of lambdas that ask for none (D-056). The spares have it; those that may have less are watched from outside. */
const SPARE_MEMORY_MB = 512;

/** Makes the processes of all lambdas, and ends them. */
export class LambdaProcesses {
  readonly #settings: ProcessSettings;
  readonly #hostEnv: Record<string, string>;
  readonly #nodes: NodeVersions;
  readonly #spares: SpareProcesses;
  readonly places: ProcessPlaces;
  readonly #living = new Set<LambdaProcess>();
  /** Where what they start tells of its calls. */
  readonly #door = new OffspringDoor();
  readonly #newsPlaces = new Map<LambdaProcess, Omit<ReturnType<OffspringDoor['place']>, 'address'>>();
  readonly #memory = new MemoryWatch();
  readonly #descendants = new Descendants();
  readonly #reaper = new Reaper(this.#descendants.platform);
  #isStopped = false;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
    this.#hostEnv = hostEnvironment(settings.hostEnv ?? process.env);
    this.#nodes = new NodeVersions(this.#hostEnv.PATH ?? '');
    const { limits, nowMs, endIdle } = settings;
    this.places = new ProcessPlaces({ max: limits.processes, nowMs, endIdle: () => this.#spares.end() || endIdle() });
    this.#spares = new SpareProcesses({
      least: limits.spares,
      nowMs,
      start: () => (this.places.tryTake() ? this.#fork(SPARE_MEMORY_MB, this.#hostEnv, true) : undefined),
    });
  }

  /** Processes that live, spares included. */
  get stats(): { processes: number; spares: number } {
    return { processes: this.#living.size, spares: this.#spares.size };
  }

  /**
   * Starts the spares, if there are lambdas to call: else the first one brings them. Throws LambdaFailure when the bootstrap has
   * not been built.
   */
  async start(hasLambdas: boolean): Promise<void> {
    await this.#door.open();
    this.#demandBootstrap();
    if (hasLambdas) this.#spares.begin();
    // Nobody waits for it, and what cannot be ended now is tried again at the next start.
    this.#descendants.endLeftovers().catch(() => {});
  }

  /** A lambda is new or has been changed: a call of it is likely. */
  expect(lambdaId: Uuid): void {
    this.#spares.expect(lambdaId);
  }

  /**
   * A process with the lambda loaded: a spare where its memory and environment allow, else a new one, for which it may have to
   * wait; undefined when it is not wanted any more by then. `adopt` is given it as soon as it exists. Rejects with LambdaFailure.
   */
  async open(
    definition: LambdaDefinition,
    adopt: (process: LambdaProcess) => void,
    isWanted: () => boolean,
  ): Promise<OpenedProcess | undefined> {
    try {
      return await this.#open(definition, adopt, isWanted);
    } catch (thrown) {
      const { debugging } = this.#settings;
      if (definition.isDebugged) debugging.lost(definition.id, debugging.find(definition.id)?.url, reasonOf(thrown));
      throw thrown;
    }
  }

  async #open(
    ...[definition, adopt, isWanted]: Parameters<LambdaProcesses['open']>
  ): ReturnType<LambdaProcesses['open']> {
    const note = (text: string | undefined) => text && this.#settings.sayOnce(definition.id, text);
    const { note: noteOfCode, revision, ...code } = await this.#settings.code.prepare(definition);
    note(noteOfCode);
    const executor = await this.#nodes.executor(definition.runtime);
    note(executor.note);
    if (this.#isStopped) throw interrupted();
    this.#demandBootstrap();
    const env = lambdaEnvironment(this.#hostEnv, this.#settings.addresses(), code.home, definition);
    const takesSpare =
      definition.memoryMb <= SPARE_MEMORY_MB &&
      !isReadAtStart(definition.env) &&
      !definition.isDebugged &&
      executor.execPath === undefined;
    const spare = takesSpare ? this.#spares.take(definition.id) : undefined;
    if (!spare && !(await this.places.take(isWanted))) {
      if (this.#isStopped) throw interrupted();
      return undefined;
    }
    const inspectPort = definition.isDebugged ? this.#settings.debugging.portOf(definition.id) : undefined;
    const process = spare ?? this.#fork(definition.memoryMb, env, false, inspectPort, executor.execPath);
    adopt(process);
    if (definition.isDebugged) this.#followDebugger(process, definition.id, code.file);
    const { resultBytes } = this.#settings.limits;
    const standIn = await this.#settings.outbound.crmAddress();
    const origin = await this.#descendants.nextOrigin();
    process.onOffspring = () => this.#descendants.follow(origin, process.exited);
    const { address: news, ...place } = this.#door.place((...told) => process.takeNews(...told));
    void process.exited.then(() => {
      place.close();
      this.#newsPlaces.delete(process);
    });
    this.#newsPlaces.set(process, place);
    const outbound = { ...this.#routesOf(definition, standIn), ...(news && { news }) };
    const { isDebugged, memoryMb } = definition;
    await process.load({ ...code, env, origin, resultLimitBytes: resultBytes, outbound, isDebugged }, memoryMb);
    return { process, revision };
  }

  #followDebugger(process: LambdaProcess, lambdaId: string, file: string): void {
    const { debugging } = this.#settings;
    let told: string | undefined;
    process.onInspecting = (url) => {
      told = url;
      debugging.listens(lambdaId, url, file);
    };
    void process.exited.then(() => debugging.lost(lambdaId, told));
  }

  /** Lets the rules about outbound calls that there are now hold in every process; resolves when they do in what those have started. */
  async applyRules(): Promise<void> {
    const rules = this.#settings.outbound.rules?.() ?? [];
    for (const process of this.#living) process.changeRules(rules);
    await Promise.all([...this.#newsPlaces.values()].map((place) => place.changeRules(rules)));
  }

  /** Ends every process. Resolves when none is left; `why` is what their calls end with. */
  async stop(why: LambdaFailure): Promise<void> {
    this.#isStopped = true;
    this.#spares.stop();
    this.places.close();
    for (const process of this.#living) process.kill(why);
    await Promise.all([...this.#living].map(({ exited }) => exited));
    await this.#descendants.endAll();
    this.#reaper.stop();
    this.#door.close();
  }

  /** Its place has been taken. */
  #fork(
    memoryMb: number,
    env: Record<string, string>,
    isSpare: boolean,
    inspectPort?: number,
    ofRuntime?: string,
  ): LambdaProcess {
    const { childFile, limits } = this.#settings;
    const execPath = ofRuntime ?? this.#settings.execPath ?? process.execPath;
    const started = new LambdaProcess({
      execPath,
      childFile,
      memoryMb,
      env,
      isSpare,
      ...(inspectPort !== undefined && { inspectPort }),
      resultLimitBytes: limits.resultBytes,
      logLimitLines: limits.logLines,
      reaper: this.#reaper,
    });
    this.#living.add(started);
    // What a debugger holds on to is not the lambda's.
    if (inspectPort === undefined) this.#memory.add(started);
    void started.exited.then(() => {
      this.#living.delete(started);
      this.places.giveBack();
    });
    return started;
  }

  #demandBootstrap(): void {
    const { childFile } = this.#settings;
    if (existsSync(childFile)) return;
    throw new LambdaFailure('crash', `the emulator is not complete: ${childFile} is missing; run 'npm run build'`);
  }

  #routesOf({ env }: LambdaDefinition, standIn: StandInAddress | undefined): OutboundRoutes {
    const { crm: asked, rules } = this.#settings.outbound;
    const crm = crmHostIn(env.CRM_API_BASEPATH);
    const catchesCrm = asked === 'catch' && standIn !== undefined;
    return { ...(crm && { crm }), ...(standIn && { standIn }), catchesCrm, rules: rules?.() ?? [] };
  }
}
