import { ValueStore } from '../value-store.ts';

/**
 * How the window hears of changes: trying for the first time, by the stream, by reading everything anew now and then (the
 * server is there but gives no stream), not at all (it is gone), or nobody listens.
 */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost' | 'closed';

/** The part of EventSource that is used; handed in so that tests have a say in when things happen. */
export interface Source {
  readonly readyState: number;
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  addEventListener(name: string, listener: (event: { data: string; lastEventId: string }) => void): void;
  close(): void;
}

export interface LiveStreamOptions {
  /** Opens the stream; `after` is the id of the last event that arrived. */
  open(after: string | undefined): Source;
  /** The names of the events to hear. */
  names: readonly string[];
  /** Calls back before the next picture. */
  schedule(callback: () => void): void;
  nowMs(): number;
  /** The events of one picture, oldest first. */
  onEvents(events: readonly LiveMessage[]): void;
  /** Events were missed: whatever one knows may be old. */
  onReset(): void;
  /** The server gave no stream. Is it there at all, and may we still ask it? */
  isServerThere(): Promise<boolean>;
}

export interface LiveMessage {
  name: string;
  id: string;
  /** The parsed JSON. */
  data: unknown;
}

/** `EventSource.CLOSED`. */
const CLOSED = 2;
/** How long after a stream was refused it is tried again. */
const RETRY_MS = 4000;
/** Most events that wait while the person has paused; beyond it everything is read anew on resuming. */
const MAX_HELD = 5000;
/** Over which time events a second are counted. */
const RATE_WINDOW_MS = 5000;
/** The server says with it that it no longer has what came after the id that was given. */
const RESET = 'reset';
/** What it begins with for one who gave no id: where one is now. */
const HELLO = 'hello';

/** One stream of events for the whole window: gathers those of one picture, holds them while paused, comes back after an end. */
export class LiveStream {
  readonly connection = new ValueStore<Connection>('closed');
  readonly isPaused = new ValueStore(false);
  /** Events that wait for the end of the pause. */
  readonly heldCount = new ValueStore(0);
  readonly eventsPerSecond = new ValueStore(0);

  readonly #options: LiveStreamOptions;
  #source: Source | undefined;
  #lastId: string | undefined;
  /** Has a stream ended of which no event had come that says where it was? */
  #hasGap = false;
  #waiting: LiveMessage[] = [];
  #isScheduled = false;
  #hasOverflowed = false;
  #arrivedAtMs: number[] = [];
  #retry: ReturnType<typeof setTimeout> | undefined;
  #meter: ReturnType<typeof setInterval> | undefined;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#source) return;
    if (this.connection.value === 'closed') this.connection.set('connecting');
    this.#meter ??= setInterval(() => this.#measure(), 1000);
    const source = this.#options.open(this.#lastId);
    this.#source = source;
    source.onopen = () => this.connection.set('live');
    source.onerror = () => this.#onError(source);
    for (const name of new Set([...this.#options.names, RESET, HELLO])) {
      source.addEventListener(name, (event) => this.#onEvent(name, event));
    }
  }

  stop(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#meter);
    this.#meter = undefined;
    this.#source?.close();
    this.#source = undefined;
    this.connection.set('closed');
  }

  /** Holds what arrives; the lists stand still. */
  pause(): void {
    this.isPaused.set(true);
  }

  /** Lets what was held go; when that is too much, everything is read anew. */
  resume(): void {
    this.isPaused.set(false);
    this.heldCount.set(0);
    if (this.#hasOverflowed) {
      this.#hasOverflowed = false;
      this.#waiting = [];
      this.#options.onReset();
    } else this.#deliverSoon();
  }

  togglePause(): void {
    if (this.isPaused.value) this.resume();
    else this.pause();
  }

  #onEvent(name: string, event: { data: string; lastEventId: string }): void {
    if (event.lastEventId !== '') this.#lastId = event.lastEventId;
    this.connection.set('live');
    if (name === HELLO && !this.#hasGap) return;
    this.#hasGap = false;
    if (name === RESET || name === HELLO) {
      this.#waiting = [];
      this.#options.onReset();
      return;
    }
    this.#arrivedAtMs.push(this.#options.nowMs());
    if (this.#waiting.length >= MAX_HELD && this.isPaused.value) this.#hasOverflowed = true;
    else this.#waiting.push({ name, id: event.lastEventId, data: JSON.parse(event.data) });
    if (this.isPaused.value) this.heldCount.set(this.heldCount.value + 1);
    else this.#deliverSoon();
  }

  #deliverSoon(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    this.#options.schedule(() => {
      this.#isScheduled = false;
      if (this.isPaused.value || this.#waiting.length === 0) return;
      const events = this.#waiting;
      this.#waiting = [];
      this.#options.onEvents(events);
    });
  }

  #onError(source: Source): void {
    // The browser itself tries again after a broken line, but not after an answer that is no stream.
    if (source.readyState !== CLOSED) {
      this.connection.set('lost');
      return;
    }
    source.close();
    this.#source = undefined;
    this.#hasGap = this.#lastId === undefined;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.start(), RETRY_MS);
    void this.#askAround();
  }

  async #askAround(): Promise<void> {
    const isThere = await this.#options.isServerThere();
    // Somebody may have stopped or started the stream meanwhile.
    if (this.#source || this.connection.value === 'closed') return;
    this.connection.set(isThere ? 'polling' : 'lost');
    if (isThere && !this.isPaused.value) this.#options.onReset();
  }

  #measure(): void {
    const since = this.#options.nowMs() - RATE_WINDOW_MS;
    this.#arrivedAtMs = this.#arrivedAtMs.filter((atMs) => atMs >= since);
    this.eventsPerSecond.set(Math.round((this.#arrivedAtMs.length * 10_000) / RATE_WINDOW_MS) / 10);
  }
}
