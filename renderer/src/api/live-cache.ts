import type { QueryClient } from '@tanstack/react-query';
import type { LiveMessage } from './live-stream.ts';
import { keys } from './query-client.ts';

/** How soon after one reading of a topic's lists the next may come; under load they are read twice a second, not more. */
const READ_EVERY_MS = 500;

/** What is old as well when something of a topic has changed: the number of the latest commit is part of the platform's status. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  [keys.history]: [keys.status],
  // Rules that are switched stand among what was changed.
  [keys.outbound]: [keys.history],
};

/** Lists whose topic had an event are read anew: at once, then at most every half second for as long as events come. */
export class LiveCache {
  readonly #client: QueryClient;
  readonly #resting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #waiting = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Takes in the events of one picture. */
  apply(events: readonly LiveMessage[]): void {
    const topics = events.flatMap(({ name }) => [name, ...(ALSO[name] ?? [])]);
    for (const topic of new Set(topics)) this.#read(topic);
  }

  #read(topic: string): void {
    if (this.#resting.has(topic)) {
      this.#waiting.add(topic);
      return;
    }
    // What is being read is let finish: under a steady stream of events nothing would ever arrive otherwise. It may have been
    // answered before the event, so it is read once more.
    if (this.#client.isFetching({ queryKey: [topic] }) > 0) this.#waiting.add(topic);
    void this.#client.invalidateQueries({ queryKey: [topic] }, { cancelRefetch: false });
    const rest = setTimeout(() => {
      this.#resting.delete(topic);
      if (this.#waiting.delete(topic)) this.#read(topic);
    }, READ_EVERY_MS);
    this.#resting.set(topic, rest);
  }
}
