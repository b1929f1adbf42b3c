import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// Captured at start, because a lambda may replace the globals of its own process.
const { setTimeout } = globalThis;
const { apply } = Reflect;

type Done = (error?: Error | null) => void;
interface Piece {
  chunk: unknown;
  encoding: BufferEncoding;
}

/** The methods that a stream implements. A stream writes one piece, or several, at a time: their order stays. */
interface Methods {
  _write(chunk: unknown, encoding: BufferEncoding, done: Done): void;
  _writev(pieces: Piece[], done: Done): void;
  _final(done: Done): void;
  _read(sizeBytes: number): void;
  push(chunk: Buffer | null, ...rest: unknown[]): boolean;
}

/** As: Node's types leave out that they can be changed. */
const methodsOf = (stream: Duplex) => stream as unknown as Methods;

export interface Reader {
  /** Text is converted to bytes only when the bytes are read. */
  outgoing(bytes: () => Buffer): void;
  /** Null: nothing more will come. */
  received(part: Buffer | null): void;
}

export function sniff(duplex: Duplex, reader: Reader): void {
  const stream = methodsOf(duplex);
  const { _write: write, _writev: writev, push } = stream;
  // As: what a stream is written is text with its encoding, or bytes.
  const passOutgoing = ({ chunk, encoding }: Piece): void =>
    reader.outgoing(() => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : (chunk as Buffer)));
  stream._write = (chunk, encoding, done) => {
    passOutgoing({ chunk, encoding });
    apply(write, duplex, [chunk, encoding, done]);
  };
  stream._writev = (pieces, done) => {
    for (const piece of pieces) passOutgoing(piece);
    apply(writev, duplex, [pieces, done]);
  };
  stream.push = (chunk, ...rest) => {
    reader.received(chunk);
    return apply(push, duplex, [chunk, ...rest]);
  };
}

/** Delays each request on a connection at its first write. The connection is available at once: timeouts run as they do with a slow host. */
export function bufferWrites(socket: Socket, delayMs: number): void {
  if (delayMs <= 0) return;
  const stream = methodsOf(socket);
  const { _write: write, _writev: writev, push } = stream;
  let isAsked = false;
  const later = (work: () => void): void => {
    if (isAsked) work();
    else setTimeout(work, delayMs);
    isAsked = true;
  };
  stream._write = (...args) => later(() => apply(write, socket, args));
  stream._writev = (...args) => later(() => apply(writev, socket, args));
  stream.push = (...args) => {
    isAsked = false;
    return apply(push, socket, args);
  };
}

export interface DivertibleConnection {
  /** Diverts the head that is being written, and all further writes, to another connection, from which the response is read. */
  divert(other: Socket): void;
  /** Call it while a head is being written: delays that write, and all further ones, until the returned function is called. */
  delayWrites(): () => void;
}

/**
 * Makes a connection one that can be diverted. Call it before anything else changes how the connection is written to.
 *
 * @param isHeadOpen has the head of a request been written in part? It waits then: only a whole head shows where it is to go
 */
export function makeDivertible(socket: Socket, isHeadOpen: () => boolean): DivertibleConnection {
  const stream = methodsOf(socket);
  const { _write: write, _writev: writev, _final: final, _read: read } = stream;
  const heldPieces: Piece[] = [];
  let other: Socket | undefined;
  let delays = 0;
  let delayedWrite = (): void => {};
  const pass = (pieces: Piece[], done: Done): void => {
    const all = [...heldPieces.splice(0), ...pieces];
    const [first] = all;
    if (other) writeAll(other, all, done);
    else if (all.length === 1 && first) apply(write, socket, [first.chunk, first.encoding, done]);
    else apply(writev, socket, [all, done]);
  };
  const take = (pieces: Piece[], done: Done): void => {
    if (delays > 0) delayedWrite = () => pass(pieces, done);
    else if (other || !isHeadOpen()) pass(pieces, done);
    else {
      heldPieces.push(...pieces);
      done();
    }
  };
  stream._write = (chunk, encoding, done) => take([{ chunk, encoding }], done);
  stream._writev = take;
  stream._final = (done) => {
    const finish = (): void => (other ? void other.end(() => done()) : apply(final, socket, [done]));
    if (heldPieces.length > 0) pass([], finish);
    else finish();
  };
  stream._read = (sizeBytes) => (other ? void other.resume() : apply(read, socket, [sizeBytes]));
  return {
    divert(to) {
      other = to;
      // As: Node documents no way to have a connection read no more; what its host sends is nothing that was asked for.
      (socket as unknown as { _handle?: { readStop?(): void } })._handle?.readStop?.();
      to.on('data', (part: Buffer) => void (socket.push(part) || to.pause()));
      to.on('end', () => socket.push(null));
      to.on('error', (error) => socket.destroy(error));
      socket.once('close', () => to.destroy());
    },
    delayWrites() {
      delays += 1;
      return () => {
        delays -= 1;
        if (delays > 0) return;
        const resume = delayedWrite;
        delayedWrite = () => {};
        resume();
      };
    },
  };
}

function writeAll(other: Socket, pieces: Piece[], done: Done): void {
  other.cork();
  // As: what a stream is written is text with its encoding, or bytes.
  for (const { chunk, encoding } of pieces) other.write(chunk as Buffer, encoding);
  other.write('', () => done());
  other.uncork();
}
