import type { Socket } from 'node:net';

// Taken at start: a lambda may replace the globals of its own process.
const { setTimeout } = globalThis;

type Write = (...args: unknown[]) => void;

/**
 * Makes a connection slow to be asked: what is written first, and first after something has arrived, waits that long. The
 * connection itself is there at once, so that time-outs run as with a host that takes its time.
 */
export function holdWrites(socket: Socket, delayMs: number): void {
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
