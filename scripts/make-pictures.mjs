// Makes the pictures of the README from the running window: node scripts/make-pictures.mjs (after `node scripts/setup.mjs start`).
// A demo platform of its own, a few invocations so that there is something to see, and one picture for each colour scheme.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { startEmulator } from '../entries/library.mjs';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'pictures');
const SIZE = { width: 1280, height: 800 };
const QUALITY = 0.8;
const NAMES = ['Ada', 'Grace', 'Hedy', 'Mary'];

const platform = await startEmulator({ containers: { engine: 'none' } });
for (const [at, firstName] of NAMES.entries()) {
  const payload = {
    firstName,
    lastName: 'Example',
    company: 'Fern & Moss',
    email: `${firstName.toLowerCase()}@example.com`,
  };
  await fetch(platform.tour.leadUrl, { method: 'POST', body: JSON.stringify({ payload }) });
  await fetch(`${platform.gatewayUrl}/website/orders/${1001 + at}`);
}
const browser = await chromium.launch({
  ...(process.env.CHROMIUM_PATH ? { executablePath: process.env.CHROMIUM_PATH } : { channel: 'chromium' }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme, reducedMotion: 'reduce' });
    await page.goto(platform.windowUrl());
    await page.getByRole('link', { name: 'Invocations' }).first().click();
    await page.getByText('contact-form').first().waitFor();
    const picture = await page.screenshot();
    // Chromium itself writes the smaller format.
    const blank = await browser.newPage();
    const url = await blank.evaluate(
      async ({ base64, quality }) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width, image.height];
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas.toDataURL('image/webp', quality);
      },
      { base64: picture.toString('base64'), quality: QUALITY },
    );
    const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
    writeFileSync(join(folder, `window-${colorScheme}.webp`), bytes);
    console.log(`docs/pictures/window-${colorScheme}.webp: ${Math.round(bytes.length / 1024)} KB`);
    await page.close();
    await blank.close();
  }
} finally {
  await browser.close();
  await platform.stop();
}
