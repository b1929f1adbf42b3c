import type { Duplex } from 'node:stream';
import type { Tunnel } from './container-upstreams.ts';
import { FrameWalk, goingAwayFrame } from './web-socket-frames.ts';

/** How long an end may take to close once the other has. */
const CLOSE_WAIT_MS = 5_000;

/** How long both may take once they were told to leave. */
const FAREWELL_WAIT_MS = 1_000;

/** Leads the bytes of an open WebSocket both ways; what it says itself it says between two frames. */
export class WebSocketTunnel implements Tunnel {
  readonly closed: Promise<void>;
  readonly #ways: readonly Way[];
  readonly #ends: readonly Duplex[];
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  /** Takes over both connections: what was read of each after the handshake goes first. */
  constructor(client: { socket: Duplex; head: Buffer }, instance: { socket: Duplex; head: Buffer }) {
    const ends = [client.socket, instance.socket];
    this.#ends = ends;
    this.closed = Promise.all(ends.map(whenClosed)).then(() => clearTimeout(this.#timer));
    for (const end of ends) {
      end.on('error', () => {}); // its close is what matters
      end.on('end', () => this.#closeWithin(CLOSE_WAIT_MS));
      end.on('close', () => this.#closeWithin(CLOSE_WAIT_MS));
    }
    this.#ways = [
      new Way(client.socket, instance.socket, goingAwayFrame({ isMasked: true })),
      new Way(instance.socket, client.socket, goingAwayFrame({ isMasked: false })),
    ];
    this.#ways[0]?.pass(client.head);
    this.#ways[1]?.pass(instance.head);
    if (ends.some((end) => end.destroyed)) this.cut();
  }

  goAway(): void {
    for (const way of this.#ways) way.close();
    this.#closeWithin(FAREWELL_WAIT_MS);
  }

  /** Closes both connections at once. */
  cut(): void {
    for (const end of this.#ends) end.destroy();
  }

  #closeWithin(timeoutMs: number): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#timer = setTimeout(() => this.cut(), timeoutMs);
  }
}

async function whenClosed(end: Duplex): Promise<void> {
  if (!end.closed) await new Promise((resolve) => end.once('close', resolve));
}

/** One direction. */
class Way {
  readonly #from: Duplex;
  readonly #to: Duplex;
  readonly #walk = new FrameWalk();
  /** Said last of all. */
  readonly #farewell: Buffer;
  #state: 'open' | 'closing' | 'closed' = 'open';

  constructor(from: Duplex, to: Duplex, farewell: Buffer) {
    this.#from = from;
    this.#to = to;
    this.#farewell = farewell;
    from.on('data', (bytes: Buffer) => this.pass(bytes));
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
    // What was read before is still sent; a connection that broke off breaks off for the other end, too.
    from.on('close', () => to.writableEnded || to.destroy());
  }

  pass(bytes: Buffer): void {
    if (this.#state === 'closed') return;
    const size = this.#walk.pass(bytes, { toBoundary: this.#state === 'closing' });
    if (size > 0 && !this.#to.write(size === bytes.length ? bytes : bytes.subarray(0, size))) this.#from.pause();
    if (this.#state === 'closing') this.close();
  }

  /** Ends the direction with the farewell, as soon as no frame is half sent. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closing';
    if (!this.#walk.isBetweenFrames) return;
    this.#state = 'closed';
    this.#from.resume(); // read on to the end, into the void
    this.#to.end(this.#walk.isClosing ? undefined : this.#farewell);
  }
}
