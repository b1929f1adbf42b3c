import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameWalk, goingAwayFrame } from './web-socket-tunnel.ts';

/** A frame as RFC 6455 (5.2) draws it. */
function frame({ opcode, size, isMasked }: { opcode: number; size: number; isMasked: boolean }): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const head = [0x80 | opcode];
  if (size < 126) head.push(mask | size);
  else if (size < 65_536) head.push(mask | 126, size >> 8, size & 0xff);
  else head.push(mask | 127, 0, 0, 0, 0, 0, size >> 16, (size >> 8) & 0xff, size & 0xff);
  return Buffer.concat([Buffer.from(head), Buffer.alloc(isMasked ? 4 : 0, 0x88), Buffer.alloc(size, 0x88)]);
}

const size = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(125, 126, 65_535, 65_536, 70_000));
const frames = fc.array(fc.record({ opcode: fc.constantFrom(0, 1, 2, 9), size, isMasked: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

it('knows where each frame ends, however the bytes are cut into packets', () => {
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }), (sentFrames, cuts) => {
      const bytes = Buffer.concat(sentFrames.map(frame));
      const ends = new Set<number>();
      let end = 0;
      for (const sentFrame of sentFrames) {
        end += frame(sentFrame).length;
        ends.add(end);
      }
      const walk = new FrameWalk();
      let at = 0;
      for (let cut = 0; at < bytes.length; cut++) {
        const packet = bytes.subarray(at, at + (cuts[cut % cuts.length] ?? 1));
        expect(walk.pass(packet)).toBe(packet.length);
        at += packet.length;
        expect(walk.isBetweenFrames).toBe(ends.has(at));
      }
      expect(walk.isClosing).toBe(false);
    }),
  );
});

it('takes no more than the frame that has begun when it is asked to stop there', () => {
  fc.assert(
    fc.property(frames, fc.nat(), (sentFrames, seed) => {
      const bytes = Buffer.concat(sentFrames.map(frame));
      const first = frame(sentFrames[0] ?? { opcode: 0, size: 0, isMasked: false }).length;
      const prefixBytes = seed % (first + 1);
      const walk = new FrameWalk();
      walk.pass(bytes.subarray(0, prefixBytes));
      const passedBytes = walk.pass(bytes.subarray(prefixBytes), { toBoundary: true });
      expect(prefixBytes + passedBytes).toBe(prefixBytes === 0 ? 0 : first);
      expect(walk.isBetweenFrames).toBe(true);
    }),
  );
});

it('notices a close frame, its own included', () => {
  for (const isMasked of [true, false]) {
    const walk = new FrameWalk();
    walk.pass(goingAwayFrame({ isMasked }));
    expect(walk).toMatchObject({ isClosing: true, isBetweenFrames: true });
  }
});
