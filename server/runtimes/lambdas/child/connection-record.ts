import type { OutboundConnection } from '../../../model/invocation.ts';
import type { OutboundTarget, OutboundVerdict } from '../../../model/outbound-rule.ts';
import { monotonicMs } from '../../../system/clock.ts';
import type { OutboundNews } from '../process/process-messages.ts';
import { failureOf, type OutboundCalls } from './outbound-calls.ts';

export type Transport = OutboundConnection['transport'];

export interface DecidedDestination {
  target: OutboundTarget;
  verdict: OutboundVerdict | undefined;
}

export interface ByteCounts {
  sentBytes: number;
  receivedBytes: number;
}

/** A connection, reported once for each invocation that uses it. */
export class ConnectionRecord {
  transport: Transport;
  isConnected = false;
  caughtBy: OutboundNews['caughtBy'];
  readonly #calls: OutboundCalls;
  readonly #target: OutboundTarget;
  readonly #verdict: OutboundVerdict | undefined;
  readonly #countBytes: () => ByteCounts;
  #startedMs = monotonicMs();
  /** The bytes of earlier invocations. */
  #earlier: ByteCounts = { sentBytes: 0, receivedBytes: 0 };
  #id: number | undefined;
  #executionId: string | undefined;
  #hasEnded = false;
  #carriesHttp = false;

  constructor(
    calls: OutboundCalls,
    transport: Transport,
    { target, verdict }: DecidedDestination,
    countBytes: () => ByteCounts,
  ) {
    this.#calls = calls;
    this.transport = transport;
    this.#target = target;
    this.#verdict = verdict;
    this.#countBytes = countBytes;
  }

  get hasBeenReported(): boolean {
    return this.#id !== undefined || this.#hasEnded;
  }

  /** True if bytes that are sent reach a host outside this machine. */
  get leavesMachine(): boolean {
    const isPassed = this.#verdict === undefined || this.#verdict.action === 'pass';
    return isPassed && this.#target.isOutside === true && this.caughtBy === undefined;
  }

  /** HTTP calls have records of their own. Withdraws the record of a connection that had been silent for a while before its first call. */
  carryHttp(): void {
    this.#carriesHttp = true;
    if (this.caughtBy) return;
    this.#update({ carriesHttp: true, ended: true });
    this.#id = undefined;
  }

  /** Starts a record for the running invocation, if the connection has none. */
  start(): void {
    if (this.#id !== undefined || this.#carriesHttp) return;
    const executionId = this.#calls.executionId();
    // Between invocations, connections only keep themselves alive; and an invocation that has its result has its record.
    if (this.#hasEnded && (executionId === undefined || executionId === this.#executionId)) return;
    this.#executionId = executionId;
    const { hostname, port, query } = this.#target;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    const rules = this.#verdict?.rules ?? [];
    this.#id = this.#calls.open({
      atMs: this.#hasEnded ? monotonicMs() : this.#startedMs,
      method: this.transport.toUpperCase(),
      url: `${this.transport}://${host}${query === undefined ? `:${port}` : `?type=${typeOf(query)}`}`,
      connection: this.#connection(),
      ...(this.caughtBy && { caughtBy: this.caughtBy }),
      ...(rules.length > 0 && { rules }),
    });
  }

  /** @param localPort by which a mock finds the invocation that sent to it */
  connected(localPort: number): void {
    this.isConnected = true;
    if (this.caughtBy) this.#update({ localPort });
  }

  fail(error: unknown): void {
    this.start();
    this.#update(failureOf(error));
  }

  end(): void {
    const isLeaving = this.isConnected && this.leavesMachine;
    this.#update({ connection: this.#connection(), ...(isLeaving && { leftMachine: true }), ended: true });
    if (this.#id === undefined) return;
    this.#id = undefined;
    this.#hasEnded = true;
    this.#earlier = this.#countBytes();
  }

  #update(facts: Omit<OutboundNews, 'id'>): void {
    if (this.#id !== undefined) this.#calls.update(this.#id, facts);
  }

  #connection(): OutboundConnection {
    const { sentBytes, receivedBytes } = this.#countBytes();
    const { hostname: host, port } = this.#target;
    return {
      host,
      port,
      transport: this.transport,
      sentBytes: Math.max(0, sentBytes - this.#earlier.sentBytes),
      receivedBytes: Math.max(0, receivedBytes - this.#earlier.receivedBytes),
    };
  }
}

/** The type of DNS records that a method of the resolver looks up. */
function typeOf(query: string): string {
  return query === 'getHostByAddr' ? 'PTR' : query.replace('query', '').toUpperCase();
}
