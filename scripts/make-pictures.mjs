// Makes the pictures of the documentation from the running window: node scripts/make-pictures.mjs (after `node scripts/setup.mjs start`).
// For each color scheme: a picture of a lead, and a recording of the way to it, from the first screen. Not part of a build or a package.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { startEmulator } from '../entries/library.mjs';
import { findChromium } from './find-program.mjs';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'pictures');
const SIZE = { width: 1280, height: 800 };
const QUALITY = 0.8;
const RECORDING_QUALITY = 0.6;
const SHORT_MS = 1_200;
const LONG_MS = 3_000;
const ANIMATION = 0b10;
/** A frame replaces what was shown, without blending. */
const NO_BLENDING = 0b10;

const browser = await chromium.launch({
  executablePath: findChromium(),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const platform = await startEmulator({ containers: { engine: 'none' } });
    try {
      const page = await browser.newPage({ viewport: SIZE, colorScheme, reducedMotion: 'reduce' });
      await page.goto(platform.windowUrl());
      save(`lead-${colorScheme}`, animatedWebp(await record(page), SIZE));
      save(`window-${colorScheme}`, await webp(await page.screenshot(), QUALITY));
      await page.close();
    } finally {
      await platform.stop();
    }
  }
} finally {
  await browser.close();
}

/** Sends the form of the demo world and follows it to the lead. The page shows the lead at the end. */
async function record(page) {
  const frames = [];
  const show = async (durationMs) =>
    frames.push({ image: await webp(await page.screenshot(), RECORDING_QUALITY), durationMs });
  const press = async (element) => {
    await element.hover();
    await show(SHORT_MS);
    await element.click();
  };

  const send = page.getByRole('button', { name: 'Send the form' });
  await send.waitFor();
  await show(LONG_MS);
  await press(send);
  const inbox = page.getByRole('link', { name: '1 in the inbox' });
  await inbox.waitFor();
  await press(inbox);
  const lead = page.getByRole('grid', { name: 'Leads' }).getByRole('row').filter({ hasText: 'ada@example.com' });
  await lead.waitFor();
  await press(lead);
  const detail = page.getByRole('region', { name: 'Lead', exact: true });
  await detail.getByRole('table').waitFor();
  await show(LONG_MS);
  await press(detail.getByRole('link', { name: 'this invocation' }));
  await page.getByRole('tab', { name: 'Event' }).waitFor();
  await show(LONG_MS);
  await page.goBack();
  await detail.getByRole('table').waitFor();
  return frames;
}

/** Chromium itself converts a screenshot to the smaller format. */
async function webp(screenshot, quality) {
  const page = await browser.newPage();
  const url = await page.evaluate(
    async ([base64, quality]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      // Without transparency, so that the image is a single bitstream.
      canvas.getContext('2d', { alpha: false }).drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', quality);
    },
    [screenshot.toString('base64'), quality],
  );
  await page.close();
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

function save(name, bytes) {
  writeFileSync(join(folder, `${name}.webp`), bytes);
  console.log(`docs/pictures/${name}.webp: ${Math.round(bytes.length / 1024)} KB`);
}

/**
 * Joins still WebP images to an animation, without encoding them again: https://developers.google.com/speed/webp/docs/riff_container
 *
 * @param frames each a lossy WebP image without transparency, all of one size
 * @param size of the images: `width` and `height` in pixels
 * @returns the bytes of the animation, which repeats without end
 */
function animatedWebp(frames, { width, height }) {
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
