import type { QueryClient } from '@tanstack/react-query';
import { keys } from './query-client.ts';

/** After one reading of a topic's lists the next may come when these have passed: nobody sees more pictures of a list in a second. */
const LEAST_REST_MS = 80;
/** So many times as long as a reading took it rests, so that window and platform have most of their time for other things. */
const REST_FOR_READING = 3;
/** Nobody waits longer: one slow list doesn't hold up those beside it. */
const MOST_REST_MS = 500;

/** What is old as well when something of a topic has changed: the number of the latest commit is part of the platform's status. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  [keys.history]: [keys.status],
  // Rules that are switched stand among what was changed.
  [keys.outbound]: [keys.history],
};

/** Lists whose topic had an event are read anew: at once, then, for as long as events come, as often as the platform answers with ease. */
export class LiveCache {
  readonly #client: QueryClient;
  readonly #resting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #waiting = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Takes in what something happened to. */
  apply(topics: ReadonlySet<string>): void {
    for (const topic of new Set([...topics].flatMap((name) => [name, ...(ALSO[name] ?? [])]))) this.#read(topic);
  }

  #read(topic: string): void {
    if (this.#resting.has(topic)) {
      this.#waiting.add(topic);
      return;
    }
    // What is being read is let finish: under a steady stream of events nothing would ever arrive otherwise. It may have been
    // answered before the event, so it is read once more.
    if (this.#client.isFetching({ queryKey: [topic] }) > 0) this.#waiting.add(topic);
    const startedMs = performance.now();
    const reading = this.#client.invalidateQueries({ queryKey: [topic] }, { cancelRefetch: false });
    this.#rest(topic, MOST_REST_MS);
    const longest = this.#resting.get(topic);
    const read = () => {
      const tookMs = performance.now() - startedMs;
      const restMs = Math.max(LEAST_REST_MS, REST_FOR_READING * tookMs);
      if (this.#resting.get(topic) === longest && tookMs + restMs < MOST_REST_MS) this.#rest(topic, restMs);
    };
    // The lists are told of what was read by a timer that was set before: then this counts their drawing, too.
    void reading.then(() => setTimeout(read));
  }

  #rest(topic: string, ms: number): void {
    clearTimeout(this.#resting.get(topic));
    const rested = () => {
      this.#resting.delete(topic);
      if (this.#waiting.delete(topic)) this.#read(topic);
    };
    this.#resting.set(topic, setTimeout(rested, ms));
  }
}
