import { randomBytes } from 'node:crypto';

const CLOSE = 0x8;
const GOING_AWAY = 1001;
const REASON = 'going away';

/** Follows one direction of a WebSocket, so that it is known where frames end (RFC 6455, 5.2). */
export class FrameWalk {
  /** Of the frame whose head is not whole yet. */
  #head: number[] = [];
  #payloadLeft = 0;
  #isClosing = false;

  /** Has a close frame begun? No frame may follow it. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  get isBetweenFrames(): boolean {
    return this.#payloadLeft === 0 && this.#head.length === 0;
  }

  /** Takes bytes that passed. With `toBoundary` only up to the end of a frame. Returns how many it took. */
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

/** A close frame that says 1001: masked for a server, plain for a client (RFC 6455, 5.3, 7.4.1). */
export function goingAwayFrame({ isMasked }: { isMasked: boolean }): Buffer {
  const payload = Buffer.alloc(2 + REASON.length);
  payload.writeUInt16BE(GOING_AWAY);
  payload.write(REASON, 2, 'latin1');
  if (!isMasked) return Buffer.concat([Buffer.from([0x80 | CLOSE, payload.length]), payload]);
  const mask = randomBytes(4);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | CLOSE, 0x80 | payload.length]), mask, masked]);
}
