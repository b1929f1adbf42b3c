import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../model/ids.ts';
import { reasonOf } from '../model/reason.ts';
import type { ContainerEngine, EngineEvent, Instance } from './engine.ts';
import { EngineUnreachable } from './engine-errors.ts';

/** An engine that went away is asked again after the first, then with growing delay up to the last. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];
/** What no event told is found by looking, now and then. */
const RESYNC_MS = 30_000;
/** An engine that hangs accepts connections and says nothing: only asking shows it. */
const BEAT_MS = 3_000;
/** How long a question that needs its answer now waits for an engine that is away to be back. */
const RETURN_LIMIT_MS = 1_000;
/** How much may be asked of an engine at a time: more only makes each take longer. */
const MAX_AT_ONCE = 4;

/**
 * An engine that is not spoken to yet, or one that cannot be: then `absence` says why, in one sentence (D-050), and `isOff` whether
 * that was wanted.
 */
export type EngineSource =
  | { address: string; open(): Promise<ContainerEngine> }
  | { address: string; absence: string; isOff: boolean };

export type EngineState = { kind: 'connecting' } | { kind: 'ready'; version: string } | { kind: Away; reason: string };

/** It does not answer, or is not wanted at all: then nobody waits for it. */
export type Away = 'unreachable' | 'off';

export interface EngineListener {
  /** It answers, for the first time or again, or was looked at: all instances of this world. */
  onInstances(attached: AttachedEngine, instances: readonly Instance[]): void;
  onEvent(event: Extract<EngineEvent, { kind: 'instance' }>): void;
  onState(attached: AttachedEngine): void;
}

/** Somebody who is told of a record's output. */
interface Follower {
  recordId: Uuid;
  onNews(): void;
  /** Ends what the engine, as it is now, tells. */
  end(): void;
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
  #beatTimer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  readonly #followers = new Set<Follower>();
  #connecting: Promise<void> | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(source: EngineSource, listener: EngineListener) {
    this.#source = source;
    this.#listener = listener;
    if ('absence' in source) this.#state = { kind: source.isOff ? 'off' : 'unreachable', reason: source.absence };
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
    if ('reason' in this.#state) throw new EngineUnreachable(this.#state.reason);
    return this.#opened();
  }

  /** Like `engine`, for who needs the answer now: one that is not there yet, or is back already, is asked first (D-050). */
  async engineNow(): Promise<ContainerEngine> {
    if (this.#state.kind === 'connecting') await this.retry();
    else if (this.#state.kind === 'unreachable')
      await Promise.race([this.retry(), pause(RETURN_LIMIT_MS, undefined, { ref: false })]);
    return this.engine();
  }

  /**
   * Tells whenever a record has written something, until the returned function is called; after the engine was away, too: then
   * it is told once for all that may have been missed. Rejects with EngineUnreachable.
   */
  async follow(recordId: Uuid, onNews: () => void): Promise<() => void> {
    const follower: Follower = { recordId, onNews, end: () => undefined };
    await this.#begin(follower, await this.engineNow());
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
      follower.end();
    };
  }

  async #begin(follower: Follower, engine: ContainerEngine): Promise<void> {
    follower.end = await engine.follow(follower.recordId, () => follower.onNews());
  }

  /** What told them has ended with the connection. Whoever cannot be followed now is tried again when the engine comes back next. */
  async #followAnew(engine: ContainerEngine): Promise<void> {
    for (const follower of this.#followers) {
      follower.end();
      await this.#begin(follower, engine).catch(() => undefined);
      if (this.#followers.has(follower)) follower.onNews();
      else follower.end();
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#letGo();
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
      const engine = await this.#opened();
      const version = await engine.ping();
      this.#beat(engine);
      // Watched before it is listed: nothing that happens in between is missed.
      const unwatch = await engine.watch((event) => {
        if (event.kind === 'lost') this.#lose(event.reason);
        else this.#listener.onEvent(event);
      });
      this.#unwatch = unwatch;
      const instances = await engine.list();
      if (this.#isStopped) return this.#letGo();
      this.#failures = 0;
      this.#become({ kind: 'ready', version });
      this.#listener.onInstances(this, instances);
      this.#later(() => this.#resync(), RESYNC_MS);
      void this.#followAnew(engine);
    } catch (failure) {
      this.#retry(reasonOf(failure));
    }
  }

  #opened(): Promise<ContainerEngine> {
    if ('absence' in this.#source) return Promise.reject(new EngineUnreachable(this.#source.absence));
    this.#engine ??= this.#source.open();
    return this.#engine;
  }

  /** Asks whether it is still there, again and again, until it is let go. */
  #beat(engine: ContainerEngine): void {
    clearTimeout(this.#beatTimer);
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      engine.beat().then(
        () => this.#beatTimer === timer && this.#beat(engine),
        (failure: Error) => {
          if (this.#beatTimer !== timer) return;
          this.#letGo(); // an attempt to connect fails with it
          this.#lose(failure.message);
        },
      );
    }, BEAT_MS).unref();
    this.#beatTimer = timer;
  }

  async #resync(): Promise<void> {
    try {
      this.#listener.onInstances(this, await (await this.engine()).list());
      this.#later(() => this.#resync(), RESYNC_MS);
    } catch (failure) {
      this.#lose(reasonOf(failure));
    }
  }

  #lose(reason: string): void {
    if (this.#isStopped || this.#state.kind !== 'ready') return;
    this.#retry(reason);
  }

  #retry(reason: string): void {
    this.#letGo();
    if (this.#isStopped) return;
    this.#become({ kind: 'unreachable', reason });
    const delayMs = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0;
    this.#failures += 1;
    this.#later(() => this.#connect(), delayMs);
  }

  /** Whatever still waits for an answer of it has none to expect. */
  #letGo(): void {
    clearTimeout(this.#beatTimer);
    this.#beatTimer = undefined;
    this.#unwatch?.();
    this.#unwatch = undefined;
    void this.#engine?.then(
      (engine) => engine.close(),
      () => undefined,
    );
  }

  #become(state: EngineState): void {
    this.#state = state;
    this.#listener.onState(this);
  }

  #later(work: () => Promise<void>, delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void work(), delayMs).unref();
  }
}
