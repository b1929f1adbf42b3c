import { ValueStore } from '../value-store.ts';
import type { StreamListener } from './event-stream.ts';

/**
 * The way in which the window learns of changes. `connecting`: it tries for the first time, or the stream has just ended; `live`: by the stream;
 * `polling`: it reads everything again now and then, because the server responds but gives no stream; `lost`: not at
 * all, because the server is gone; `closed`: there are no listeners.
 */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost' | 'closed';

export interface LiveStreamOptions {
  /** Listens to the stream; the returned function ends that. */
  listen(listener: StreamListener): () => void;
  /** Calls back before the next picture. */
  schedule(callback: () => void): void;
  /** Receives the topics that have changed since the last frame. */
  onTopics(topics: ReadonlySet<string>): void;
  /** Events were missed: all data may be out of date. */
  onReset(): void;
  /** The server is reachable, for the first time or again: failed reads can be repeated. */
  onOpen(): void;
  /** The stream ended, or the server gave none. Is it there at all, and may we still ask it? */
  isServerReachable(): Promise<boolean>;
}

/** The time over which events per second are counted. */
const RATE_WINDOW_MS = 5000;
/** The event with which the server reports that it no longer has what followed the last received event. */
const RESET = 'reset';
/** First event of a new stream: the current position. */
const HELLO = 'hello';

/** One stream of events for the whole window: collects the events of one frame, and keeps them while paused. */
export class LiveStream {
  readonly connection = new ValueStore<Connection>('closed');
  readonly isPaused = new ValueStore(false);
  /** Events that wait for the end of the pause. */
  readonly heldCount = new ValueStore(0);
  readonly eventsPerSecond = new ValueStore(0);

  readonly #options: LiveStreamOptions;
  #end: (() => void) | undefined;
  /** True if the stream opened in this attempt. */
  #hasOpened = false;
  #probeCount = 0;
  #latestProbe = 0;
  /** Was there a time without listeners? */
  #hasGap = false;
  #topics = new Set<string>();
  #isScheduled = false;
  #arrivedAtMs: number[] = [];
  #meter: ReturnType<typeof setInterval> | undefined;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#end) return;
    this.#hasOpened = false;
    this.connection.set('connecting');
    this.#meter = setInterval(() => this.#measure(), 1000);
    this.#end = this.#options.listen({
      onOpen: () => {
        this.#hasOpened = true;
        this.connection.set('live');
        this.#options.onOpen();
      },
      onEvent: ({ name }) => this.#onEvent(name),
      onEnd: (isRefused) => void this.#onEnd(isRefused),
    });
  }

  stop(): void {
    clearInterval(this.#meter);
    this.#end?.();
    this.#end = undefined;
    this.#hasGap = true;
    this.connection.set('closed');
  }

  /** Pauses or resumes delivery, so that lists do not move while paused. */
  togglePause(): void {
    this.isPaused.set(!this.isPaused.value);
    this.heldCount.set(0);
    this.#scheduleNotify();
  }

  #onEvent(name: string): void {
    this.connection.set('live');
    const isMissing = name === RESET || (name === HELLO && this.#hasGap);
    if (isMissing) {
      this.#topics.clear();
      this.#options.onReset();
    }
    this.#hasGap = false;
    if (isMissing || name === HELLO) return;
    this.#arrivedAtMs.push(performance.now());
    this.#topics.add(name);
    if (this.isPaused.value) this.heldCount.set(this.heldCount.value + 1);
    else this.#scheduleNotify();
  }

  #scheduleNotify(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule(() => {
      this.#isScheduled = false;
      if (this.isPaused.value || this.#topics.size === 0) return;
      const topics = this.#topics;
      this.#topics = new Set();
      this.#options.onTopics(topics);
    });
  }

  async #onEnd(isRefused: boolean): Promise<void> {
    this.#hasGap = true;
    const end = this.#end;
    this.#probeCount += 1;
    const probe = this.#probeCount;
    const isBroken = this.#hasOpened && !isRefused;
    this.#hasOpened = false;
    if (this.connection.value === 'live') this.connection.set('connecting');
    const isThere = await this.#options.isServerReachable();
    // The stream may have been stopped or restarted, another attempt succeeded, or a later probe ended.
    if (this.#end !== end || this.#latestProbe > probe || this.connection.value === 'live') return;
    this.#latestProbe = probe;
    if (!isThere) this.connection.set('lost');
    // A stream that only broke is resumed where it ended.
    else if (isBroken) this.connection.set('connecting');
    else {
      this.connection.set('polling');
      if (!this.isPaused.value) this.#options.onReset();
    }
  }

  #measure(): void {
    const since = performance.now() - RATE_WINDOW_MS;
    this.#arrivedAtMs = this.#arrivedAtMs.filter((atMs) => atMs >= since);
    this.eventsPerSecond.set(Math.round((this.#arrivedAtMs.length * 10_000) / RATE_WINDOW_MS) / 10);
  }
}
