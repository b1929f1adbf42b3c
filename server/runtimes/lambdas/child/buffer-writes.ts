import type { Socket } from 'node:net';

// Captured at start, because a lambda may replace the globals of its own process.
const { setTimeout } = globalThis;

type Write = (...args: unknown[]) => void;

/** Delays each request on a connection at its first write. The connection is available at once: timeouts run as they do with a slow host. */
export function bufferWrites(socket: Socket, delayMs: number): void {
  if (delayMs <= 0) return;
  // As: these are the methods that a stream implements; Node's types leave out that they can be changed.
  const stream = socket as unknown as { _write: Write; _writev: Write; push: (...args: unknown[]) => boolean };
  let isAsked = false;
  for (const name of ['_write', '_writev'] as const) {
    const own = stream[name].bind(socket);
    stream[name] = (...args) => {
      // A stream writes one piece at a time: the order stays.
      if (isAsked) return own(...args);
      isAsked = true;
      setTimeout(() => own(...args), delayMs);
    };
  }
  const push = stream.push.bind(socket);
  stream.push = (...args) => {
    isAsked = false;
    return push(...args);
  };
}
