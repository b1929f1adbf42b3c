import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';

const CLOSE = 0x8;
const GOING_AWAY = 1001;
const REASON = 'going away';

/** Tracks the frame boundaries in one direction of a WebSocket (RFC 6455, 5.2). */
export class FrameWalk {
  #head: number[] = [];
  #payloadLeft = 0;
  #isClosing = false;

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get isBetweenFrames(): boolean {
    return this.#payloadLeft === 0 && this.#head.length === 0;
  }

  /** Processes forwarded bytes. With `toBoundary` only up to the end of a frame. Returns the number of processed bytes. */
  pass(bytes: Uint8Array, options: { toBoundary: boolean } = { toBoundary: false }): number {
    let at = 0;
    while (at < bytes.length) {
      if (options.toBoundary && this.isBetweenFrames) return at;
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, bytes.length - at);
        this.#payloadLeft -= step;
        at += step;
      } else {
        this.#head.push(bytes[at] ?? 0);
        at++;
        this.#readHead();
      }
    }
    return at;
  }

  #readHead(): void {
    const [first = 0, second = 0] = this.#head;
    if (this.#head.length < 2) return;
    const length = second & 0x7f;
    const lengthBytes = length === 127 ? 8 : length === 126 ? 2 : 0;
    const maskBytes = second & 0x80 ? 4 : 0;
    if (this.#head.length < 2 + lengthBytes + maskBytes) return;
    const extended = this.#head.slice(2, 2 + lengthBytes);
    this.#payloadLeft = lengthBytes === 0 ? length : extended.reduce((sum, byte) => sum * 256 + byte, 0);
    this.#head = [];
    if ((first & 0x0f) === CLOSE) this.#isClosing = true;
  }
}

/** A close frame with 1001: masked for a server, plain for a client (RFC 6455, 5.3, 7.4.1). */
export function goingAwayFrame({ isMasked }: { isMasked: boolean }): Buffer {
  const payload = Buffer.alloc(2 + REASON.length);
  payload.writeUInt16BE(GOING_AWAY);
  payload.write(REASON, 2, 'latin1');
  if (!isMasked) return Buffer.concat([Buffer.from([0x80 | CLOSE, payload.length]), payload]);
  const mask = randomBytes(4);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | CLOSE, 0x80 | payload.length]), mask, masked]);
}

/** After one end has closed, the other is closed when no data moves for this time. */
const CLOSE_WAIT_MS = 5_000;

/** After the farewell, both ends are closed when no data moves for this time; pending data still arrives. */
const FAREWELL_WAIT_MS = 1_000;

/** Forwards the bytes of an open WebSocket in both directions; inserts own messages between two frames. */
export class WebSocketTunnel {
  readonly closed: Promise<void>;
  readonly #ways: readonly ReturnType<typeof forward>[];
  readonly #ends: readonly Duplex[];
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  /** Takes over both connections, beginning with the bytes that were read after the handshake. */
  constructor(client: { socket: Duplex; head: Buffer }, instance: { socket: Duplex; head: Buffer }) {
    const ends = [client.socket, instance.socket];
    this.#ends = ends;
    this.closed = Promise.all(ends.map(whenClosed)).then(() => clearInterval(this.#timer));
    for (const end of ends) {
      end.on('error', () => {}); // the close event is handled instead
      end.on('end', () => this.#closeWhenIdle(CLOSE_WAIT_MS));
      end.on('close', () => this.#closeWhenIdle(CLOSE_WAIT_MS));
    }
    this.#ways = [
      forward(client.socket, instance.socket, goingAwayFrame({ isMasked: true })),
      forward(instance.socket, client.socket, goingAwayFrame({ isMasked: false })),
    ];
    this.#ways[0]?.pass(client.head);
    this.#ways[1]?.pass(instance.head);
    if (ends.some((end) => end.destroyed)) this.cut();
  }

  goAway(): void {
    for (const way of this.#ways) way.close();
    this.#closeWhenIdle(FAREWELL_WAIT_MS);
  }

  cut(): void {
    for (const end of this.#ends) end.destroy();
  }

  /** Checks twice within that time: at the first check this process itself may have been suspended. */
  #closeWhenIdle(waitMs: number): void {
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
    return this.#ways.reduce((sum, way) => sum + way.movedBytes(), 0);
  }
}

async function whenClosed(end: Duplex): Promise<void> {
  if (!end.closed) await new Promise((resolve) => end.once('close', resolve));
}

/** Forwards the bytes of one direction, and inserts the farewell between two frames. */
function forward(from: Duplex, to: Duplex, farewell: Buffer) {
  const walk = new FrameWalk();
  let state: 'open' | 'closing' | 'closed' = 'open';
  let passedBytes = 0;
  /** Ends the direction with the farewell as soon as no frame is incomplete. */
  const close = (): void => {
    if (state === 'closed') return;
    state = 'closing';
    if (!walk.isBetweenFrames) return;
    state = 'closed';
    from.resume(); // keep reading and discard the data
    to.end(walk.isClosing ? undefined : farewell);
  };
  const pass = (bytes: Buffer): void => {
    if (state === 'closed') return;
    const size = walk.pass(bytes, { toBoundary: state === 'closing' });
    passedBytes += size;
    if (size > 0 && !to.write(size === bytes.length ? bytes : bytes.subarray(0, size))) from.pause();
    if (state === 'closing') close();
  };
  from.on('data', pass);
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  // Data that was already read is still sent; an aborted connection aborts the other one, too.
  from.on('close', () => to.writableEnded || to.destroy());
  return { pass, close, movedBytes: () => passedBytes - to.writableLength };
}
