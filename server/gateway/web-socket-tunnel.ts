import type { Duplex } from 'node:stream';
import { FrameWalk, goingAwayFrame } from './web-socket-frames.ts';

/** How long nothing may move until an end closes once the other has. */
const CLOSE_WAIT_MS = 5_000;

/** How long nothing may move once both were told to leave: what is under way, however large, arrives. */
const FAREWELL_WAIT_MS = 1_000;

/** Leads the bytes of an open WebSocket both ways; what it says itself it says between two frames. */
export class WebSocketTunnel {
  /** Resolves when both ends are closed. */
  readonly closed: Promise<void>;
  readonly #ways: readonly Way[];
  readonly #ends: readonly Duplex[];
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  /** Takes over both connections: what was read of each after the handshake goes first. */
  constructor(client: { socket: Duplex; head: Buffer }, instance: { socket: Duplex; head: Buffer }) {
    const ends = [client.socket, instance.socket];
    this.#ends = ends;
    this.closed = Promise.all(ends.map(whenClosed)).then(() => clearInterval(this.#timer));
    for (const end of ends) {
      end.on('error', () => {}); // its close is what matters
      end.on('end', () => this.#closeWhenStill(CLOSE_WAIT_MS));
      end.on('close', () => this.#closeWhenStill(CLOSE_WAIT_MS));
    }
    this.#ways = [
      new Way(client.socket, instance.socket, goingAwayFrame({ isMasked: true })),
      new Way(instance.socket, client.socket, goingAwayFrame({ isMasked: false })),
    ];
    this.#ways[0]?.pass(client.head);
    this.#ways[1]?.pass(instance.head);
    if (ends.some((end) => end.destroyed)) this.cut();
  }

  /** Tells both ends to leave (1001) and closes it soon after. */
  goAway(): void {
    for (const way of this.#ways) way.close();
    this.#closeWhenStill(FAREWELL_WAIT_MS);
  }

  /** Closes both connections at once. */
  cut(): void {
    for (const end of this.#ends) end.destroy();
  }

  /** Looks twice in that time: at the first look it may be this process that stood still. */
  #closeWhenStill(waitMs: number): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    let [moved, looks] = [this.#movedBytes(), 0];
    this.#timer = setInterval(() => {
      const before = moved;
      moved = this.#movedBytes();
      looks = moved === before ? looks + 1 : 0;
      if (looks === 2) this.cut();
    }, waitMs / 2);
  }

  #movedBytes(): number {
    return this.#ways.reduce((sum, way) => sum + way.movedBytes, 0);
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
  #passedBytes = 0;

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

  /** What has left this process. */
  get movedBytes(): number {
    return this.#passedBytes - this.#to.writableLength;
  }

  pass(bytes: Buffer): void {
    if (this.#state === 'closed') return;
    const size = this.#walk.pass(bytes, { toBoundary: this.#state === 'closing' });
    this.#passedBytes += size;
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
