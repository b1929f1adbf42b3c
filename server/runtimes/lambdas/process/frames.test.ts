import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError, FrameReader, writeFrame } from './frames.ts';

const LIMIT = 1024 * 1024;

function bytesOf(frames: { type: number; head: unknown; body: Uint8Array }[]): Buffer {
  const written: Buffer[] = [];
  const channel = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  for (const { type, head, body } of frames) writeFrame(channel, type, head, body);
  return Buffer.concat(written);
}

function readAll(bytes: Buffer, pieceBytes: number, limitBytes = LIMIT) {
  const reader = new FrameReader(limitBytes);
  const frames = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    frames.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
  return frames;
}

describe('frames', () => {
  it('arrive as they were sent, in whatever pieces the channel delivers them', () => {
    const frame = fc.record({
      type: fc.integer({ min: 0, max: 255 }),
      head: fc.jsonValue(),
      body: fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.constant(new Uint8Array(20_000).fill(7))),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), fc.integer({ min: 1, max: 30_000 }), (frames, pieceBytes) => {
        const expected = frames.map(({ type, head, body }) => ({
          type,
          head: JSON.parse(JSON.stringify(head)),
          body: Buffer.from(body).toString('latin1'),
        }));
        const arrived = readAll(bytesOf(frames), pieceBytes);
        expect(arrived.map((frame) => ({ ...frame, body: frame.body.toString('latin1') }))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('are refused when anything else is written to the channel, between them or in their midst', () => {
    const good = bytesOf([{ type: 1, head: {}, body: Buffer.from('x') }]);
    expect(() => readAll(Buffer.from('a line that a lambda wrote\n'), 5)).toThrow(FrameError);
    expect(() => readAll(Buffer.concat([good, Buffer.from('hello, world\n'), good]), 1_000)).toThrow(FrameError);
    expect(() => readAll(Buffer.concat([good.subarray(0, 14), Buffer.from('no json'), good]), 1_000)).toThrow(
      FrameError,
    );
  });

  it('are refused by their announced length, before that much has been read', () => {
    const tooLong = bytesOf([{ type: 1, head: {}, body: new Uint8Array(LIMIT + 1) }]);
    expect(() => readAll(tooLong.subarray(0, 100), 100)).toThrow('too long');
  });

  it('hand out bodies that keep nothing else alive', () => {
    const [frame] = readAll(bytesOf([{ type: 1, head: {}, body: Buffer.from('ab') }]), 1_000);
    expect(frame?.body.buffer.byteLength).toBe(2);
    expect(frame?.body.toString()).toBe('ab');
  });
});
