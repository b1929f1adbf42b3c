import type { Socket } from 'node:net';

const { apply } = Reflect;

type Done = (error?: Error | null) => void;
interface Piece {
  chunk: unknown;
  encoding: BufferEncoding;
}

/** A connection that can be diverted: further writes go to another connection, and the response is read from that one. */
export class Diversion {
  /** Has the head of a request been written in part? It waits then: only a whole head shows where it is to go. */
  isHeadOpen: () => boolean = () => false;
  readonly #socket: Socket;
  #held: Piece[] = [];
  #other: Socket | undefined;

  /** Call it before anything else changes how the connection is written to. */
  constructor(socket: Socket) {
    this.#socket = socket;
    // As: these are the methods that a stream implements; Node's types leave out that they can be changed.
    const stream = socket as unknown as {
      _write(chunk: unknown, encoding: BufferEncoding, done: Done): void;
      _writev(pieces: Piece[], done: Done): void;
      _final(done: Done): void;
      _read(sizeBytes: number): void;
    };
    const { _write: write, _writev: writev, _final: final, _read: read } = stream;
    const pass = (pieces: Piece[], done: Done): void => {
      const all = [...this.#held.splice(0), ...pieces];
      const [first] = all;
      if (this.#other) this.#writeAll(this.#other, all, done);
      else if (all.length === 1 && first) apply(write, socket, [first.chunk, first.encoding, done]);
      else apply(writev, socket, [all, done]);
    };
    const take = (pieces: Piece[], done: Done): void => {
      if (this.#other || !this.isHeadOpen()) pass(pieces, done);
      else {
        this.#held.push(...pieces);
        done();
      }
    };
    stream._write = (chunk, encoding, done) => take([{ chunk, encoding }], done);
    stream._writev = take;
    stream._final = (done) => {
      const finish = (): void => (this.#other ? void this.#other.end(() => done()) : apply(final, socket, [done]));
      if (this.#held.length > 0) pass([], finish);
      else finish();
    };
    stream._read = (sizeBytes) => (this.#other ? void this.#other.resume() : apply(read, socket, [sizeBytes]));
  }

  /** Call it while the head of a request is written; the head is then diverted. */
  divert(other: Socket): void {
    const socket = this.#socket;
    this.#other = other;
    // As: Node documents no way to have a connection read no more; what its host sends is nothing that was asked for.
    (socket as unknown as { _handle?: { readStop?(): void } })._handle?.readStop?.();
    other.on('data', (part: Buffer) => void (socket.push(part) || other.pause()));
    other.on('end', () => socket.push(null));
    other.on('error', (error) => socket.destroy(error));
    socket.once('close', () => other.destroy());
  }

  #writeAll(other: Socket, pieces: Piece[], done: Done): void {
    other.cork();
    // As: what a stream is written is text with its encoding, or bytes.
    for (const { chunk, encoding } of pieces) other.write(chunk as Buffer, encoding);
    other.write('', () => done());
    other.uncork();
  }
}
