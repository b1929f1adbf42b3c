import { defineConfig } from '@playwright/test';
import { findChromium } from './scripts/find-program.mjs';

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

// Chromium has no sandbox for root.
const sandboxOptions = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  // These timeouts only end tests that hang: waits end as soon as their condition is met.
  timeout: 480_000,
  expect: { timeout: 120_000 },
  workers: 3,
  // Chromium aborts loads when the machine's networks change, for example when a container is created. So journeys with an engine
  // run one at a time, after all others (scripts/test-all.mjs).
  projects: [
    { name: 'window', grepInvert: [WITH_ENGINE, SLOW] },
    { name: 'slow', grep: SLOW },
    { name: 'engine', grep: WITH_ENGINE, workers: 1, dependencies: ['window'] },
  ],
  forbidOnly: process.env.CI !== undefined,
  reporter: 'list',
  outputDir: 'dist/playwright',
  // Built files need no transformation.
  build: { external: ['**/dist/server/**'] },
  use: {
    browserName: 'chromium',
    // Animations use a twentieth of the processor. One journey of palette.spec.ts runs with them.
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
        // The window must work without a network, so the tests block it.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost',
      ],
    },
  },
});
