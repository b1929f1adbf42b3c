import type { Socket } from 'node:net';

/**
 * Forwards bytes in both directions, and resolves when both sockets are closed. An ended side can still receive. Where a
 * side has been aborted, the other one is; by default, what it has not yet received is lost.
 */
export function joinSockets(
  client: Socket,
  upstream: Socket,
  abort = (side: Socket): unknown => side.resetAndDestroy(),
): Promise<void> {
  return new Promise((resolve) => {
    for (const [side, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      side.on('error', () => {}); // the close event is handled instead
      side.on('close', () => {
        if (!side.readableEnded || !other.writableEnded) abort(other);
        if (other.closed) resolve();
      });
      if (side.destroyed) other.destroy();
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
}
