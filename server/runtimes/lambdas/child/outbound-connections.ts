import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import type { OutboundNews } from '../process/process-messages.ts';
import { type ByteCounts, ConnectionRecord, type DecidedDestination, type Transport } from './connection-record.ts';
import type { OutboundCalls } from './outbound-calls.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { setTimeout, clearTimeout } = globalThis;

/** A connection that has sent nothing after this time is recorded, since it may wait until the timeout of the lambda. */
const SILENCE_MS = 1_000;

/** Reports connections that carry no HTTP. */
export class OutboundConnections {
  readonly #calls: OutboundCalls;
  readonly #records = new WeakMap<object, ConnectionRecord>();
  readonly #open = new Set<ConnectionRecord>();

  constructor(calls: OutboundCalls) {
    this.#calls = calls;
    calls.leavesMachine = (socket) => this.#records.get(socket)?.leavesMachine === true;
  }

  /** Follows a connection that is about to be made. */
  follow(socket: Socket, decided: DecidedDestination): void {
    const transport = 'encrypted' in socket ? 'tls' : 'tcp';
    const { record, close } = this.open(transport, decided, () => ({
      sentBytes: socket.bytesWritten,
      receivedBytes: socket.bytesRead,
    }));
    if (this.#calls.takeConnecting()) record.carryHttp();
    this.#records.set(socket, record);
    const start = (): void => {
      // As: Node's own note of a request that uses the connection.
      const { _httpMessage: request } = socket as Socket & { _httpMessage?: { method: string } | null };
      // Calls through a proxy have records of their own once it has made a tunnel for them.
      if (request && request.method !== 'CONNECT') record.carryHttp();
      record.start();
    };
    // As: Node types the events of sockets by their names only.
    const events = socket as NodeJS.EventEmitter;
    events.once('connect', () => record.connected(socket.localPort ?? 0));
    events.on(errorMonitor, (error: unknown) => {
      start();
      record.fail(error);
    });
    events.once('close', () => {
      clearTimeout(timer);
      if (!record.hasBeenReported) start();
      close();
    });
    const timer = setTimeout(() => {
      if (!record.hasBeenReported) start();
    }, SILENCE_MS).unref();
  }

  /** Creates a record, which ends with each invocation, and for good when `close` is called. */
  open(
    transport: Transport,
    decided: DecidedDestination,
    countBytes: () => ByteCounts,
  ): { record: ConnectionRecord; close(): void } {
    const record = new ConnectionRecord(this.#calls, transport, decided, countBytes);
    this.#open.add(record);
    const close = (): void => {
      record.end();
      this.#open.delete(record);
    };
    return { record, close };
  }

  /** TLS that is started on a connection belongs to the record of that connection. */
  continue(upper: Socket, lower: object): void {
    const record = this.#records.get(lower);
    if (!record) return;
    if (!record.hasBeenReported) record.transport = 'tls';
    this.#records.set(upper, record);
  }

  /** Reports the mock that receives a connection instead of its host. */
  catch(socket: Socket, caughtBy: NonNullable<OutboundNews['caughtBy']>): void {
    const record = this.#records.get(socket);
    if (!record) return;
    record.caughtBy = caughtBy;
    record.start();
  }

  /** The connection carries HTTP, which is reported by call. */
  markHttp(socket: object | undefined): void {
    if (socket) this.#records.get(socket)?.carryHttp();
  }

  /** Bytes other than HTTP are sent or received. */
  use(socket: Socket): void {
    this.#records.get(socket)?.start();
  }

  /** Ends the records of the invocation that ends now. Connections can stay open for later ones. */
  endRecords(): void {
    for (const record of this.#open) record.end();
  }
}
