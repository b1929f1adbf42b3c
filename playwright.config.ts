import { defineConfig } from '@playwright/test';
import { findChromium } from './scripts/find-program.mjs';
import { isMissingHere } from './server/testing/missing-here.ts';

const executablePath = findChromium();
if (executablePath === undefined) {
  throw new Error(
    'The tests of the window need Chromium: install it (Debian: apt-get install chromium-headless-shell) or set CHROMIUM_PATH.',
  );
}

/** The tag of journeys that change what runs in a container engine. */
const WITH_ENGINE = /@engine/;
/** The tag of journeys that take long because they move much; scripts/test-all.mjs runs them. */
const SLOW = /@slow/;

// Root may not use Chromium's sandbox; everyone else's tests keep it.
const sandboxOptions = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  testIgnore: isMissingHere('pipelines') ? 'pipelines.spec.ts' : [],
  // These limits end what hangs; when what is waited for is there nobody waits on.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  workers: 3,
  // Chromium breaks off what it is loading when the machine's networks change, as containers make them do: journeys with an
  // engine come when all others have ended, one at a time (scripts/test-all.mjs).
  projects: [
    { name: 'window', grepInvert: [WITH_ENGINE, SLOW] },
    { name: 'slow', grep: SLOW },
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
      executablePath,
      args: [
        ...sandboxOptions,
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
