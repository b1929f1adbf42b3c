import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { typeKinds } from './server/api/routes/type-naming.ts';
import { testSeed } from './server/testing/test-seed.ts';

const TESTS = '{server,electron,renderer,e2e,fixtures}/**/*';

/** Builds what tests start as separate processes. */
const BUILD = 'server/testing/build-for-tests.ts';
/** Notices operations of the API document that no test validates. */
const VALIDATED = 'server/testing/validated-operations.ts';
/** Gives property tests their seed. */
const SEED = 'server/testing/seed-properties.ts';
/**
 * No test relies on the tests before it, except those with an engine: their files follow a container from its creation to its removal.
 * The order is the same in each run, and another one with each value of TEST_SEED.
 */
const sequence = { seed: testSeed, shuffle: { tests: true } };
/** A document for the tests of the window. */
const DOM = 'renderer/testing/dom.ts';

// Tests run the TypeScript sources. Only the bootstrap of lambda processes is built (scripts/build.mjs).
export default defineConfig({
  // As in the build of the window (renderer/vite.config.ts).
  define: { TYPE_KINDS: JSON.stringify(typeKinds()) },
  test: {
    // A worker loads the sources once for all its test files. Several platforms can run in one process, so modules have no state
    // that a test could leave to the next.
    isolate: false,
    // The projects share the transformed sources.
    experimental: { fsModuleCache: true },
    // Twice the number of processors, because tests often wait for processes and engines.
    maxWorkers: 2 * Math.max(2, availableParallelism()),
    sequence: { seed: testSeed },
    // These timeouts only end tests that hang. They are long enough for a busy machine, and waits end as soon as their condition is met.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // The suffix of a file's name decides its project; CONTRIBUTING.md explains the two tiers.
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          sequence,
          include: [`${TESTS}.test.ts`],
          exclude: ['**/*.{slow,engine,podman}.test.ts'],
          globalSetup: [BUILD, VALIDATED],
          setupFiles: SEED,
        },
      },
      {
        extends: true,
        test: {
          name: 'window',
          sequence,
          include: ['renderer/**/*.test.tsx'],
          exclude: ['**/*.slow.test.tsx'],
          setupFiles: DOM,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          sequence,
          include: [`${TESTS}.slow.test.ts`],
          globalSetup: [BUILD, VALIDATED],
          setupFiles: SEED,
        },
      },
      {
        extends: true,
        test: { name: 'slow-window', sequence, include: ['renderer/**/*.slow.test.tsx'], setupFiles: DOM },
      },
      {
        extends: true,
        test: {
          name: 'engine',
          // The files share a daemon: one can make a swarm, or start 30 containers, while another waits for a single one.
          fileParallelism: false,
          // A folder can have files of other projects, too.
          sequence: { groupOrder: 1 },
          include: [`${TESTS}.engine.test.ts`],
          globalSetup: [BUILD, VALIDATED],
          setupFiles: SEED,
        },
      },
      { extends: true, test: { name: 'podman', include: [`${TESTS}.podman.test.ts`], globalSetup: BUILD } },
      { extends: true, test: { name: 'scripts', include: ['scripts/**/*.test.ts'] } },
    ],
  },
});
