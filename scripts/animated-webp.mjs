// Joins still WebP images to an animation, without encoding them again: https://developers.google.com/speed/webp/docs/riff_container

const ANIMATION = 0b10;
/** A frame replaces what was shown, without blending. */
const NO_BLENDING = 0b10;

/**
 * @param frames each a lossy WebP image without transparency, all of one size
 * @param size of the images: `width` and `height` in pixels
 * @returns the bytes of the animation, which repeats without end
 */
export function animatedWebp(frames, { width, height }) {
  const header = Buffer.concat([Buffer.from([ANIMATION, 0, 0, 0]), uint24(width - 1), uint24(height - 1)]);
  const chunks = [chunk('VP8X', header), chunk('ANIM', Buffer.alloc(6))];
  for (const { image, durationMs } of frames) {
    const header = [uint24(0), uint24(0), uint24(width - 1), uint24(height - 1), uint24(durationMs)];
    chunks.push(chunk('ANMF', Buffer.concat([...header, Buffer.from([NO_BLENDING]), bitstream(image)])));
  }
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

/** The `VP8 ` chunk of a still image. */
function bitstream(image) {
  for (let at = 12; at < image.length; ) {
    const length = image.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (image.toString('latin1', at, at + 4) === 'VP8 ') return image.subarray(at, end);
    at = end;
  }
  throw new Error('a frame is not a lossy WebP image');
}

function chunk(name, content) {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

function uint24(value) {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(value, 0, 3);
  return bytes;
}
