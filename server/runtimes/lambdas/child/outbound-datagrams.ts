import type { Socket } from 'node:dgram';
import type { Address } from '../process/protocol.ts';
import type { ByteCounts, ConnectionRecord, DecidedDestination } from './connection-record.ts';
import type { OutboundConnections } from './outbound-connections.ts';
import { ruleError } from './rule-error.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { setTimeout } = globalThis;
const { apply } = Reflect;
const { nextTick } = process;

/** More destinations of one socket are ruled, but not recorded. */
const MAX_DESTINATIONS = 100;

interface Datagrams {
  record: ConnectionRecord;
  counts: ByteCounts;
}

/**
 * Applies outbound rules to the datagrams of this process and reports them, once for each socket and destination. One that is refused
 * fails with an error; without a callback and a listener for errors it is lost, as UDP may lose it.
 */
export function ruleDatagrams(
  decide: (destination: Address) => DecidedDestination | undefined,
  connections: OutboundConnections,
): void {
  const { Socket: DatagramSocket } = require('node:dgram') as typeof import('node:dgram');
  const { prototype } = DatagramSocket;
  const connectedTo = new WeakMap<Socket, Address>();
  const datagramsOf = new WeakMap<Socket, Map<string, Datagrams>>();
  prototype.connect = new Proxy(prototype.connect, {
    apply: (connect, socket: Socket, args: unknown[]) => {
      connectedTo.set(socket, { host: hostOf(args[1]), port: Number(args[0]) });
      return apply(connect, socket, args);
    },
  });
  prototype.disconnect = new Proxy(prototype.disconnect, {
    apply: (disconnect, socket: Socket, args) => {
      connectedTo.delete(socket);
      return apply(disconnect, socket, args);
    },
  });
  const ownSend = prototype.send;
  const sendNow = (socket: Socket, args: unknown[]): void => {
    // A socket that is not bound yet calls its method again later.
    const isReplaced = Object.hasOwn(socket, 'send');
    if (!isReplaced) socket.send = ownSend;
    try {
      apply(ownSend, socket, args);
    } finally {
      if (!isReplaced) Reflect.deleteProperty(socket, 'send');
    }
  };
  prototype.send = new Proxy(ownSend, {
    apply: (_send, socket: Socket, args: unknown[]) => {
      const destination = connectedTo.get(socket) ?? destinationIn(args);
      const decided = decide(destination);
      if (!decided) return sendNow(socket, args);
      const { target, verdict } = decided;
      const isPassed = verdict === undefined || verdict.action === 'pass';
      const error = isPassed ? undefined : ruleError({ ...verdict, action: verdict.error ? 'fail' : 'block' }, target);
      const datagrams = datagramsTo(socket, decided);
      if (error) {
        datagrams?.record.fail(error);
        return refuse(socket, args, error);
      }
      if (datagrams) {
        datagrams.record.isConnected = true;
        datagrams.record.start();
        datagrams.counts.sentBytes += sizeOf(args);
      }
      if (!verdict?.delayMs) return sendNow(socket, args);
      setTimeout(() => sendNow(socket, args), verdict.delayMs);
    },
  });

  function datagramsTo(socket: Socket, decided: DecidedDestination): Datagrams | undefined {
    const bySocket = datagramsOf.get(socket) ?? new Map<string, Datagrams>();
    datagramsOf.set(socket, bySocket);
    const name = `${decided.target.hostname}:${decided.target.port}`;
    const knownDatagrams = bySocket.get(name);
    if (knownDatagrams || bySocket.size >= MAX_DESTINATIONS) return knownDatagrams;
    const counts = { sentBytes: 0, receivedBytes: 0 };
    const { record, close } = connections.open('udp', decided, () => ({ ...counts }));
    bySocket.set(name, { record, counts });
    socket.once('close', close);
    return { record, counts };
  }
}

function refuse(socket: Socket, args: readonly unknown[], error: Error): void {
  const callback = args.findLast((arg) => typeof arg === 'function');
  nextTick(() => {
    // As: the last argument of `send` is its callback.
    if (callback) (callback as (error: Error) => void)(error);
    else if (socket.listenerCount('error') > 0) socket.emit('error', error);
  });
}

/** The destination among the arguments of `send`: (message, port, host) or (message, offset, length, port, host). */
function destinationIn([, second, third, port, host]: readonly unknown[]): Address {
  const isPart = Boolean(host) || (Boolean(port) && typeof port !== 'function');
  return isPart ? { host: hostOf(host), port: Number(port) } : { host: hostOf(third), port: Number(second) };
}

function hostOf(host: unknown): string {
  return typeof host === 'string' && host !== '' ? host : 'localhost';
}

function sizeOf([message, , length]: readonly unknown[]): number {
  if (typeof length === 'number') return length;
  if (Array.isArray(message)) return message.reduce((sum: number, part) => sum + sizeOf([part]), 0);
  // As: `send` takes text and bytes.
  return Buffer.byteLength(message as string | Uint8Array);
}
