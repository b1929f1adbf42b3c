import type { Duplex } from 'node:stream';

type Write = (this: Duplex, ...args: unknown[]) => void;

export interface Reader {
  /** Text is converted to bytes only when the bytes are read. */
  sent(bytes: () => Buffer): void;
  /** Null: nothing more will come. */
  received(part: Buffer | null): void;
}

export function sniff(duplex: Duplex, reader: Reader): void {
  // As: these are the methods that a stream implements; Node's types leave out that they can be changed.
  const stream = duplex as unknown as {
    _write: Write;
    _writev: Write;
    push: (chunk: Buffer | null, ...rest: unknown[]) => boolean;
  };
  const { _write: write, _writev: writev, push } = stream;
  // As: what a stream is written is text with its encoding, or bytes.
  const sent = (chunk: unknown, encoding: unknown): void =>
    reader.sent(() => (typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : (chunk as Buffer)));
  stream._write = (chunk, encoding, ...rest) => {
    sent(chunk, encoding);
    return Reflect.apply(write, duplex, [chunk, encoding, ...rest]);
  };
  stream._writev = (chunks, ...rest) => {
    // As: that is what a stream gives it.
    for (const { chunk, encoding } of chunks as { chunk: unknown; encoding: unknown }[]) sent(chunk, encoding);
    return Reflect.apply(writev, duplex, [chunks, ...rest]);
  };
  stream.push = (chunk, ...rest) => {
    reader.received(chunk);
    return Reflect.apply(push, duplex, [chunk, ...rest]);
  };
}
