import type { ContainerEngine, EngineEvent, EngineSource, Instance } from './engine.ts';
import { EngineUnreachable } from './engine-errors.ts';

/** An engine that went away is asked again after the first, then with growing delay up to the last. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];
/** What no event told is found by looking, now and then. */
const RESYNC_MS = 30_000;
/** How much may be asked of an engine at a time: more only makes each take longer. */
const MAX_AT_ONCE = 4;

export type EngineState =
  | { kind: 'connecting' }
  | { kind: 'ready'; version: string }
  | { kind: 'unreachable'; reason: string };

export interface EngineListener {
  /** It answers, for the first time or again, or was looked at: all instances of this world. */
  onInstances(instances: readonly Instance[]): void;
  onEvent(event: Extract<EngineEvent, { kind: 'instance' }>): void;
  onState(state: EngineState): void;
}

/** One engine over time: connects, watches, and comes back after it was away. */
export class AttachedEngine {
  readonly #source: EngineSource;
  #engine: Promise<ContainerEngine> | undefined;
  readonly #listener: EngineListener;
  readonly #waiting: (() => void)[] = [];
  #state: EngineState = { kind: 'connecting' };
  #busy = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #connecting: Promise<void> | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(source: EngineSource, listener: EngineListener) {
    this.#source = source;
    this.#listener = listener;
    if ('absence' in source) this.#state = { kind: 'unreachable', reason: source.absence };
  }

  /** Where it is, for messages. */
  get address(): string {
    return this.#source.address;
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Begins to connect, once; what comes of it is told to the listener. */
  start(): void {
    if (this.#isStarted || 'absence' in this.#source) return;
    this.#isStarted = true;
    void this.#connect();
  }

  /** Asks an engine that is away now, and not when its turn comes; resolves when it has answered or not. */
  async retry(): Promise<void> {
    if (this.#isStopped || 'absence' in this.#source || this.#state.kind === 'ready') return;
    this.#isStarted = true;
    await this.#connect();
  }

  /** The engine itself, for what is asked of it now and not in line; rejects with EngineUnreachable where there is none. */
  async engine(): Promise<ContainerEngine> {
    if ('absence' in this.#source) throw new EngineUnreachable(this.#source.absence);
    this.#engine ??= this.#source.open();
    return this.#engine;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#unwatch?.();
    void this.#engine?.then((engine) => engine.close());
  }

  /** Does something with the engine when there is room for it; a connection that turns out to be lost is looked after. */
  async use<T>(work: (engine: ContainerEngine) => Promise<T>): Promise<T> {
    // A place that is given up is handed to the next in line, so nobody who comes meanwhile takes it.
    if (this.#busy >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy += 1;
    try {
      return await work(await this.engine());
    } catch (failure) {
      if (failure instanceof EngineUnreachable) this.#lose(failure.message);
      throw failure;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    }
  }

  /** Tries once, however many ask for it. */
  #connect(): Promise<void> {
    clearTimeout(this.#timer);
    this.#connecting ??= this.#tryToConnect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #tryToConnect(): Promise<void> {
    try {
      const engine = await this.engine();
      const version = await engine.ping();
      // Watched before it is listed: nothing that happens in between is missed.
      const unwatch = await engine.watch((event) => {
        if (event.kind === 'lost') this.#lose(event.reason);
        else this.#listener.onEvent(event);
      });
      const instances = await engine.list();
      if (this.#isStopped) return unwatch();
      this.#unwatch = unwatch;
      this.#failures = 0;
      this.#become({ kind: 'ready', version });
      this.#listener.onInstances(instances);
      this.#later(() => this.#resync(), RESYNC_MS);
    } catch (failure) {
      this.#retry(failure instanceof Error ? failure.message : String(failure));
    }
  }

  async #resync(): Promise<void> {
    try {
      this.#listener.onInstances(await (await this.engine()).list());
      this.#later(() => this.#resync(), RESYNC_MS);
    } catch (failure) {
      this.#lose(failure instanceof Error ? failure.message : String(failure));
    }
  }

  #lose(reason: string): void {
    if (this.#isStopped || this.#state.kind !== 'ready') return;
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#retry(reason);
  }

  #retry(reason: string): void {
    if (this.#isStopped) return;
    this.#become({ kind: 'unreachable', reason });
    const delayMs = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0;
    this.#failures += 1;
    this.#later(() => this.#connect(), delayMs);
  }

  #become(state: EngineState): void {
    this.#state = state;
    this.#listener.onState(state);
  }

  #later(work: () => Promise<void>, delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void work(), delayMs).unref();
  }
}
