import { randomUUID } from 'node:crypto';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, Invocation, LambdaCall } from '../model/invocation.ts';
import { Recent } from './recent.ts';
import { type RecordedExchange, sizeOfExchange, thinnedExchange } from './recorded-exchange.ts';
import {
  type RecordedInvocation,
  recordedInvocation,
  sizeOfInvocation,
  thinnedInvocation,
} from './recorded-invocation.ts';

export const MAX_INVOCATIONS = 50_000;
export const MAX_EXCHANGES = 50_000;
/** Of headers, bodies, events, logs and results: beyond it the older records keep their row only. */
export const MAX_BYTES = 96 * 1024 * 1024;

/** The newest invocations of lambdas and requests to the platform, in memory. */
export class Recorder {
  /** Places mean nothing beyond this process: another run counts anew. */
  readonly run = randomUUID().slice(0, 8);
  readonly invocations = new Recent<RecordedInvocation>({
    maxItems: MAX_INVOCATIONS,
    maxBytes: MAX_BYTES,
    sizeOf: sizeOfInvocation,
    thin: thinnedInvocation,
    keyOf: ({ executionId }) => executionId,
  });
  readonly exchanges = new Recent<RecordedExchange>({
    maxItems: MAX_EXCHANGES,
    maxBytes: MAX_BYTES,
    sizeOf: sizeOfExchange,
    thin: thinnedExchange,
    keyOf: ({ executionId }) => executionId,
  });
  readonly #running = new Map<Uuid, BegunInvocation>();
  readonly #replays = new Map<Uuid, Uuid>();

  /** What waits or runs, oldest first. */
  get running(): BegunInvocation[] {
    return [...this.#running.values()];
  }

  begin(begun: BegunInvocation): void {
    this.#running.set(begun.executionId, begun);
  }

  addInvocation(invocation: Invocation, call: LambdaCall): void {
    const { executionId } = invocation;
    this.#running.delete(executionId);
    this.invocations.add(recordedInvocation(invocation, call, this.#replays.get(executionId)));
    this.#replays.delete(executionId);
  }

  /** Returns the place of the record. */
  addExchange(record: ExchangeRecord): number {
    this.exchanges.add({ ...record, isThinned: false });
    return this.exchanges.newest;
  }

  /** An invocation that is about to begin is given the event of another again. */
  noteReplay(executionId: Uuid, of: Uuid): void {
    this.#replays.set(executionId, of);
  }
}
