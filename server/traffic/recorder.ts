import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, Invocation, LambdaCall } from '../model/invocation.ts';
import type { ByteLog } from '../store/records/byte-log.ts';
import type { RecordLogs } from '../store/records/record-logs.ts';
import type { RecordRing } from '../store/records/record-ring.ts';
import { PassingMap } from './passing-map.ts';
import {
  addExchange,
  decodeExchange,
  type ExchangeBodies,
  type RecordedExchange,
  type WholeExchange,
  wholeExchange,
} from './recorded-exchange.ts';
import {
  addInvocation,
  decodeInvocation,
  type OutboundPlace,
  outboundFailuresOfMark,
  outboundOf,
  type RecordedInvocation,
  type WholeInvocation,
  wholeInvocation,
} from './recorded-invocation.ts';

/** Calls of which one record is there and the other is waited for, to keep their bodies once. */
const MAX_HALVES = 10_000;

/** The newest invocations of lambdas and requests to the platform. Their bodies are kept once for both. */
export class Recorder {
  readonly invocations: RecordRing<RecordedInvocation>;
  readonly exchanges: RecordRing<RecordedExchange>;
  readonly #logs: RecordLogs;
  readonly #isOn: boolean;
  readonly #bodies: ByteLog;
  readonly #running = new PassingMap<Uuid, BegunInvocation>();
  readonly #replays = new Map<Uuid, Uuid>();
  readonly #halves = new PassingMap<Uuid, ExchangeBodies>();

  /** @param isOn otherwise nothing is recorded from now on */
  constructor(logs: RecordLogs, isOn = true) {
    this.#logs = logs;
    this.#isOn = isOn;
    this.#bodies = logs.bodies;
    this.invocations = logs.ring('invocations', decodeInvocation);
    this.exchanges = logs.ring('requests', decodeExchange);
  }

  /** Places mean nothing beyond these records: others count anew. */
  get run(): string {
    return this.#logs.id;
  }

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
    const replayOf = this.#replays.get(executionId);
    this.#replays.delete(executionId);
    if (!this.#isOn) return;
    const to = { ring: this.invocations, bodies: this.#bodies };
    const { event, value } = addInvocation(to, invocation, call, replayOf, this.#halves.get(executionId));
    if (call.trigger === 'gateway' || call.trigger === 'async')
      this.#note(executionId, { request: event, response: value });
    this.#logs.changed();
  }

  /** Returns the place of the record; 0 when there is none. */
  addExchange(record: ExchangeRecord): number {
    if (!this.#isOn) return 0;
    const { executionId } = record;
    const known = executionId === undefined ? undefined : this.#halves.get(executionId);
    const { seq, bodies } = addExchange({ ring: this.exchanges, bodies: this.#bodies }, record, known);
    if (executionId !== undefined) this.#note(executionId, bodies);
    this.#logs.changed();
    return seq;
  }

  /** One half of a call is there; the second ends the waiting. */
  #note(executionId: Uuid, bodies: ExchangeBodies): void {
    if (this.#halves.delete(executionId)) return;
    this.#halves.set(executionId, bodies);
    if (this.#halves.size > MAX_HALVES) this.#halves.deleteOldest();
  }

  readonly whole = (one: RecordedInvocation): WholeInvocation => wholeInvocation(this.#bodies, one);

  readonly outboundOf = (one: RecordedInvocation): OutboundPlace[] => outboundOf(this.#bodies, one);

  readonly wholeExchange = (one: RecordedExchange): WholeExchange => wholeExchange(this.#bodies, one);

  /** Is the event that it was given still there, whole? */
  isReplayable({ event: [at, keptBytes, sizeBytes], rest }: RecordedInvocation): boolean {
    return keptBytes === sizeBytes && Math.min(at, rest[0]) >= this.#bodies.oldest;
  }

  /** Status of the answer at the gateway to the call that an invocation is of. */
  statusOf(executionId: Uuid): number | undefined {
    return this.exchanges.markOf(executionId) || undefined;
  }

  /** Calls that came to nothing of those that the lambda behind a request made. */
  failuresOf(executionId: Uuid | undefined): number {
    const mark = executionId === undefined ? undefined : this.invocations.markOf(executionId);
    return mark === undefined ? 0 : outboundFailuresOfMark(mark);
  }

  /** An invocation that is about to begin is given the event of another again. */
  noteReplay(executionId: Uuid, of: Uuid): void {
    this.#replays.set(executionId, of);
  }
}
