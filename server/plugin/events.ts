import type { Event } from './plugin.ts';

interface Subscriber {
  plugin: string;
  notify(payload: unknown): unknown;
}

export class Events {
  readonly #onFault: (fault: unknown) => void;
  readonly #subscribers = new Map<string, Subscriber[]>();

  constructor(onFault: (fault: unknown) => void) {
    this.#onFault = onFault;
  }

  /** @param plugin named if it throws */
  on<T>({ event }: Event<T>, plugin: string, listener: (payload: T) => unknown): void {
    const subscriber = { plugin, notify: listener as Subscriber['notify'] }; // `emit` takes the same token
    this.#subscribers.set(event, [...(this.#subscribers.get(event) ?? []), subscriber]);
  }

  /** Notifies all subscribers, in the order in which they subscribed. One that throws is reported; the others are still notified. */
  emit<T>(event: Event<T>, payload: T): void {
    for (const subscriber of this.#subscribers.get(event.event) ?? []) {
      try {
        const result = subscriber.notify(payload);
        if (result instanceof Promise) result.catch((cause) => this.#failed(subscriber, event, cause));
      } catch (cause) {
        this.#failed(subscriber, event, cause);
      }
    }
  }

  /** As `emit`, and waits for all subscribers; then rejects with the failure of the first one that failed. */
  async settle<T>(event: Event<T>, payload: T): Promise<void> {
    const hearing = (this.#subscribers.get(event.event) ?? []).map(async (subscriber) => {
      try {
        await subscriber.notify(payload);
      } catch (cause) {
        throw failureOf(subscriber, event, cause);
      }
    });
    await Promise.allSettled(hearing);
    await Promise.all(hearing);
  }

  #failed(subscriber: Subscriber, event: Event<unknown>, cause: unknown): void {
    this.#onFault(failureOf(subscriber, event, cause));
  }
}

const failureOf = ({ plugin }: Subscriber, { event }: Event<unknown>, cause: unknown) =>
  new Error(`plugin '${plugin}' failed at event '${event}'`, { cause });
