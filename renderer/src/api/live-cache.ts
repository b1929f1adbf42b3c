import type { QueryClient } from '@tanstack/react-query';
import { keys } from './query-client.ts';

/** Shortest time between two reads of a topic's lists: a user cannot follow more updates per second. */
const LEAST_REST_MS = 80;
/** The pause after a read, as a multiple of the read's duration. It leaves most of the time of window and platform for other work. */
const PAUSE_FACTOR = 3;
/** The longest wait: one slow list does not delay the others. */
const MOST_REST_MS = 500;

type Key = readonly string[];

/** The keys to invalidate together with a topic. For example, the platform's status contains the number of the latest commit. */
const ALSO: Readonly<Record<string, readonly Key[]>> = {
  [keys.history]: [[keys.status]],
  // A form is a lead, an invocation or a request.
  [keys.leads]: [[keys.forms]],
  [keys.invocations]: [[keys.forms], [keys.map]],
  [keys.traffic]: [[keys.forms], [keys.map]],
  [keys.world]: [[keys.map]],
  // Enabled and disabled rules are listed among the changes.
  [keys.outbound]: [[keys.history]],
  // The status of a container is part of its record, but its changes are not commits.
  [keys.containers]: [
    [keys.world, 'all of', 'containers'],
    [keys.world, 'all of', 'jobs'],
    [keys.world, 'record'],
  ],
};

/** Lists whose topic had an event are read again: at once, then, for as long as events come, as often as the platform can respond without load. */
export class LiveCache {
  readonly #client: QueryClient;
  /** The timers of paused queries, by the words of the query key. */
  readonly #paused = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #waiting = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Marks the data of an event as old. */
  apply(topics: ReadonlySet<string>): void {
    const old = [...topics].flatMap((topic) => [[topic], ...(ALSO[topic] ?? [])]);
    for (const key of new Map(old.map((key) => [key.join(), key])).values()) this.#read(key);
  }

  #read(queryKey: Key): void {
    const name = queryKey.join();
    if (this.#paused.has(name)) {
      this.#waiting.add(name);
      return;
    }
    // A read in progress is not aborted: under a steady stream of events, no response would ever arrive. Its response may be older than the
    // event, so the data is read once more.
    if (this.#client.isFetching({ queryKey }) > 0) this.#waiting.add(name);
    const startedMs = performance.now();
    const reading = this.#client.invalidateQueries({ queryKey }, { cancelRefetch: false });
    this.#rest(queryKey, MOST_REST_MS);
    const longest = this.#paused.get(name);
    const read = () => {
      const tookMs = performance.now() - startedMs;
      const restMs = Math.max(LEAST_REST_MS, PAUSE_FACTOR * tookMs);
      if (this.#paused.get(name) === longest && tookMs + restMs < MOST_REST_MS) this.#rest(queryKey, restMs);
    };
    // The lists are notified by a timer that was set earlier, so this includes their rendering.
    void reading.then(() => setTimeout(read));
  }

  #rest(queryKey: Key, ms: number): void {
    const name = queryKey.join();
    clearTimeout(this.#paused.get(name));
    const resume = () => {
      this.#paused.delete(name);
      if (this.#waiting.delete(name)) this.#read(queryKey);
    };
    this.#paused.set(name, setTimeout(resume, ms));
  }
}
