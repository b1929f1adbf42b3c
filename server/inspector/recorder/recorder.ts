import type { CapturedBody, ExchangeRecord } from '../../model/exchange-record.ts';
import type { Invocation, LambdaCall, StartedInvocation } from '../../model/invocation.ts';
import type { Uuid } from '../../model/record.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { RecordLog } from '../../storage/records/record-log.ts';
import type { RecordLogs } from '../../storage/records/record-logs.ts';
import { addExchange, figuresOfExchange, type RecordedExchange } from './recorded-exchange.ts';
import {
  addInvocation,
  decodeInvocation,
  figuresOfInvocation,
  outboundFailuresOfMark,
  type RecordedInvocation,
} from './recorded-invocation.ts';

/** Size of the bodies of an exchange. */
const bytesOf = (request: CapturedBody | undefined, response: CapturedBody | undefined): number =>
  (request?.sizeBytes ?? 0) + (response?.sizeBytes ?? 0);

/** Version of the files with invocations and requests; in version 1, they were rows without names. */
const FORMAT = 2;

/** The newest invocations of lambdas and requests to the platform. Their bodies are stored once for both. */
export class Recorder {
  readonly invocations: RecordLog<RecordedInvocation>;
  readonly exchanges: RecordLog<RecordedExchange>;
  readonly bodies: ByteLog;
  readonly #logs: RecordLogs;
  readonly #isOn: boolean;
  /** Waiting and running invocations, oldest first. Unlike the tables of a Map, a list leaves no garbage behind that refers to later members. */
  readonly running: StartedInvocation[] = [];

  /** @param isOn otherwise nothing is recorded from now on */
  constructor(logs: RecordLogs, isOn = true) {
    this.#logs = logs;
    this.#isOn = isOn;
    this.bodies = logs.bodies;
    this.invocations = logs.ring('invocations', decodeInvocation, { format: FORMAT, figuresOf: figuresOfInvocation });
    const decode = (json: unknown) => json as RecordedExchange; // its checksum is valid
    this.exchanges = logs.ring('requests', decode, { format: FORMAT, figuresOf: figuresOfExchange });
  }

  /** Sequence numbers have no meaning beyond these records. */
  get run(): string {
    return this.#logs.id;
  }

  addInvocation(invocation: Invocation, call: LambdaCall): void {
    const index = this.running.findIndex(({ executionId }) => executionId === invocation.executionId);
    if (index >= 0) this.running.splice(index, 1);
    if (!this.#isOn) return;
    const { outcome, outbound } = invocation;
    const resultBytes = outcome.value.kind === 'nothing' ? 0 : outcome.value.bytes.length;
    let sizeBytes = call.body.length + resultBytes;
    for (const { request, response } of outbound) sizeBytes += bytesOf(request, response);
    this.#logs.addLater(() => addInvocation(this, invocation, call), sizeBytes);
  }

  addExchange(exchange: ExchangeRecord): void {
    if (!this.#isOn) return;
    this.#logs.addLater(() => addExchange(this, exchange), bytesOf(exchange.requestBody, exchange.responseBody));
  }

  /** Is the event stored as a whole? */
  isReplayable({ event, details }: RecordedInvocation): boolean {
    const [, keptBytes, sizeBytes] = event;
    return keptBytes === sizeBytes && [event, details].every(([at, length]) => this.bodies.has(at, length));
  }

  /** Status of the gateway's response to the request behind an invocation. */
  statusOf(executionId: Uuid): number | undefined {
    return this.exchanges.markOf(executionId) || undefined;
  }

  /** Number of failed outbound calls of the lambda behind a request. */
  failuresOf(executionId: Uuid | undefined): number {
    const mark = executionId === undefined ? undefined : this.invocations.markOf(executionId);
    return mark === undefined ? 0 : outboundFailuresOfMark(mark);
  }
}
