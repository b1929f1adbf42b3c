import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../model/errors.ts';
import type { Uuid } from '../../model/record.ts';
import type { DockerEngine } from './docker/docker-engine.ts';
import { type EngineEvent, EngineUnreachable, type Instance } from './engine.ts';

/** An engine that went away is asked again after the first, then with growing delay up to the last. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];
const RESYNC_MS = 30_000;
/** An engine that hangs accepts connections and says nothing: only asking shows it, and only twice in a row. */
const BEAT_MS = 3_000;
/** The time that a call that needs its answer now waits for a lost engine to return. */
const RETURN_LIMIT_MS = 1_000;

/** No engine, or not yet: `absence` says why, in one sentence (D-050), and `isOff` whether that was wanted. */
export type EngineSource =
  | { address: string; open(): Promise<DockerEngine> }
  | { address: string; absence: string; isOff: boolean };

export type EngineState =
  | { kind: 'connecting' }
  | { kind: 'ready'; version: string }
  | { kind: 'unreachable' | 'off'; reason: string };

export interface EngineListener {
  /** It answers, for the first time or again, or was looked at: all instances of this world. */
  onInstances(attached: EngineConnection, instances: readonly Instance[]): void;
  onEvent(event: Extract<EngineEvent, { kind: 'instance' }>): void;
  onState(attached: EngineConnection): void;
  /** An error of this process, not of the engine. */
  onFault(fault: unknown): void;
}

interface Follower {
  recordId: Uuid;
  onNews(): void;
  end(): void;
}

export class EngineConnection {
  readonly #source: EngineSource;
  #engine: Promise<DockerEngine> | undefined;
  readonly #listener: EngineListener;
  #state: EngineState = { kind: 'connecting' };
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

  get address(): string {
    return this.#source.address;
  }

  get state(): EngineState {
    return this.#state;
  }

  start(): void {
    if (!this.#isStarted) this.retry().catch(this.#listener.onFault);
  }

  /** Asks an engine that is away now, and not when its turn comes; resolves when it has answered or not. */
  async retry(): Promise<void> {
    if (this.#isStopped || 'absence' in this.#source || this.#state.kind === 'ready') return;
    this.#isStarted = true;
    await this.#connect();
  }

  /** The engine itself; rejects with EngineUnreachable where there is none. */
  async engine(): Promise<DockerEngine> {
    if ('reason' in this.#state) throw new EngineUnreachable(this.#state.reason);
    return this.#opened();
  }

  /** Like `engine`, for who needs the answer now: one that is not there yet, or is back already, is asked first (D-050). */
  async engineNow(): Promise<DockerEngine> {
    if (this.#state.kind === 'connecting') await this.retry();
    else if (this.#state.kind === 'unreachable')
      await Promise.race([this.retry(), pause(RETURN_LIMIT_MS, undefined, { ref: false })]);
    return this.engine();
  }

  /** Calls whenever a record has written something, and once after the engine was away. Rejects with EngineUnreachable. */
  async follow(recordId: Uuid, onNews: () => void): Promise<() => void> {
    const engine = await this.engineNow();
    const follower: Follower = { recordId, onNews, end: await engine.follow(recordId, onNews) };
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
      follower.end();
    };
  }

  /** The streams have ended with the connection. Logs that cannot be followed now are tried again when the engine is back. */
  async #followAgain(engine: DockerEngine): Promise<void> {
    for (const follower of this.#followers) {
      follower.end();
      follower.end = await engine.follow(follower.recordId, follower.onNews).catch(() => () => undefined);
      if (this.#followers.has(follower)) follower.onNews();
      else follower.end();
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#letGo();
  }

  /** Runs work with the engine. Looks after a connection that turns out to be lost. */
  async use<T>(work: (engine: DockerEngine) => Promise<T>): Promise<T> {
    try {
      return await work(await this.engine());
    } catch (failure) {
      if (failure instanceof EngineUnreachable && !failure.isTimeout) this.#lose(failure.message);
      throw failure;
    }
  }

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
      let lossReason: string | undefined;
      // Watched before it is listed: nothing that happens in between is missed.
      this.#unwatch = await engine.watch((event) => {
        if (event.kind === 'lost') {
          lossReason = event.reason;
          this.#lose(event.reason);
        } else this.#listener.onEvent(event);
      });
      const instances = await engine.list();
      if (this.#isStopped) return this.#letGo();
      if (lossReason !== undefined) return this.#retry(lossReason);
      this.#failures = 0;
      this.#setState({ kind: 'ready', version });
      this.#listener.onInstances(this, instances);
      this.#later(() => this.#resync(), RESYNC_MS);
      this.#followAgain(engine).catch(this.#listener.onFault);
    } catch (failure) {
      this.#retry(this.#lossReason(failure));
    }
  }

  #opened(): Promise<DockerEngine> {
    if ('absence' in this.#source) return Promise.reject(new EngineUnreachable(this.#source.absence));
    this.#engine ??= this.#source.open();
    return this.#engine;
  }

  /** An engine that has not answered in time is asked once more: it may have been busy. */
  #beat(engine: DockerEngine, isMissed = false): void {
    clearTimeout(this.#beatTimer);
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      engine.beat().then(
        () => this.#beatTimer === timer && this.#beat(engine),
        (failure: Error) => {
          if (this.#beatTimer !== timer) return;
          if (!isMissed && failure instanceof EngineUnreachable && failure.isTimeout) return this.#beat(engine, true);
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
      const isSlow = failure instanceof EngineUnreachable && failure.isTimeout;
      if (!isSlow) this.#lose(this.#lossReason(failure));
      else if (this.#state.kind === 'ready') this.#later(() => this.#resync(), RESYNC_MS);
    }
  }

  /** Names the address, also where the engine has refused what every engine answers. */
  #lossReason(failure: unknown): string {
    if (failure instanceof EngineUnreachable) return failure.message;
    return `the container engine at ${this.address} cannot be used: ${reasonOf(failure)}`;
  }

  #lose(reason: string): void {
    if (this.#isStopped || this.#state.kind !== 'ready') return;
    this.#retry(reason);
  }

  #retry(reason: string): void {
    this.#letGo();
    if (this.#isStopped) return;
    this.#setState({ kind: 'unreachable', reason });
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
    this.#engine
      ?.then(
        (engine) => engine.close(),
        () => undefined,
      )
      .catch(this.#listener.onFault);
  }

  #setState(state: EngineState): void {
    this.#state = state;
    this.#listener.onState(this);
  }

  #later(work: () => Promise<void>, delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => work().catch(this.#listener.onFault), delayMs).unref();
  }
}
