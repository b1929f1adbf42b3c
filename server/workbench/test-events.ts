import type { TestEvent } from '../contract/workbench.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';

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
