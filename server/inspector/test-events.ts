import { z } from 'zod';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';

const MAX_EVENTS = 50;
const LONGEST_EVENT = 256 * 1024;

/** The events that are kept for trying a lambda, in the order in which they are shown. */
export const testEventsWish = z.strictObject({
  events: z
    .array(
      z.strictObject({
        name: z.string().trim().min(1).max(80),
        body: z.string().max(LONGEST_EVENT).describe('The event as text, as the lambda is given it'),
      }),
    )
    .max(MAX_EVENTS)
    .refine((events) => new Set(events.map(({ name }) => name)).size === events.length, 'has two events of one name'),
});

export interface TestEvent {
  name: string;
  body: string;
}

/** Test events of lambdas, kept with the data. */
export class TestEvents {
  readonly #log: KeyedLog<{ events: TestEvent[] }>;
  readonly #onChange: (lambdaId: Uuid) => void;

  constructor(log: KeyedLog<{ events: TestEvent[] }>, onChange: (lambdaId: Uuid) => void) {
    this.#log = log;
    this.#onChange = onChange;
  }

  list(lambdaId: Uuid): TestEvent[] {
    return this.#log.get(lambdaId)?.events ?? [];
  }

  /** Rejects with 503 when they cannot be kept. */
  async replace(lambdaId: Uuid, events: TestEvent[]): Promise<void> {
    await this.#log.put(lambdaId, { events });
    this.#onChange(lambdaId);
  }

  async forget(lambdaId: Uuid): Promise<void> {
    await this.#log.remove(lambdaId);
  }
}
