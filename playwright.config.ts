import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

/**
 * Browsers of the Chromium family, by the names that systems give them; nothing is ever downloaded. The one that never has a
 * screen comes first: its journeys take a quarter less of the processor.
 */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
];
const MAC_CHROME = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

function findChromium(): string {
  const candidates = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  for (const path of [process.env.CHROMIUM_PATH ?? '', ...candidates, MAC_CHROME]) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there.
    }
  }
  throw new Error(
    'The tests of the window need Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM_PATH.',
  );
}

/** The tag of journeys that change what runs in a container engine. */
const WITH_ENGINE = /@engine/;

// Root may not use Chromium's sandbox; everyone else's tests keep it.
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  // These limits end what hangs; when what is waited for is there nobody waits on.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  workers: 3,
  // Chromium breaks off what it is loading when the machine's networks change, as containers make them do: journeys with an
  // engine come when all others have ended, one at a time. scripts/test.mjs knows more ways.
  projects: [
    { name: 'window', grepInvert: WITH_ENGINE },
    { name: 'engine', grep: WITH_ENGINE, workers: 1, dependencies: ['window'] },
  ],
  forbidOnly: process.env.CI !== undefined,
  reporter: 'list',
  outputDir: 'dist/playwright',
  // What is built is loaded as it is.
  build: { external: ['**/dist/server/**'] },
  use: {
    browserName: 'chromium',
    // What moves is drawn sixty times a second, which is a twentieth of the processor's time; one journey of palette.spec.ts sees it.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: findChromium(),
      args: [
        ...asRoot,
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
        // The window has to work with the network cut off, so the tests cut it off.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost',
      ],
    },
  },
});
