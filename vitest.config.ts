import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { typeKinds } from './server/contract/type-naming.ts';

/** What asks a container engine for something; most of it is waiting. Whoever makes containers is here: scripts/test.mjs relies on it. */
const ENGINES = [
  'server/containers/**/*.test.ts',
  'e2e/container*.test.ts',
  'e2e/engine-*.test.ts',
  'e2e/swarm.test.ts',
  'e2e/image.test.ts',
  'e2e/pipeline.test.ts',
  'e2e/pipeline-shape.test.ts',
];
/**
 * Podman tells the system's firewall where a port leads, and sometimes leaves that behind: whoever gets the port next is cut off.
 * So it comes alone, when all others have ended, or in a network of its own, as scripts/test.mjs runs it where it can.
 */
const PODMAN = 'e2e/podman.test.ts';
/** What starts processes of lambdas by itself, and so needs their bootstrap built from the present sources. */
const LAMBDAS = 'server/lambdas/**/*.test.ts';

// Tests run the TypeScript sources; only the lambda child's bootstrap is a built file (scripts/build.mjs makes it).
export default defineConfig({
  // As in the build of the window (renderer/vite.config.ts).
  define: { TYPE_KINDS: JSON.stringify(typeKinds()) },
  test: {
    // A worker loads the sources once for all files it is given: several platforms can live in one process, so no module of
    // ours keeps anything that a test could leave to the next.
    isolate: false,
    // Twice the processors: much of what the tests do is waiting, for processes that end and engines that start.
    maxWorkers: 2 * Math.max(2, availableParallelism()),
    // These limits end what hangs. A machine may be as busy as it likes: what comes to be is waited for, and then nobody waits on.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // They are taken in the order of their names: what takes longest and computes least begins, and the others fill the gaps.
    projects: [
      { extends: true, test: { name: '1-engines', include: ENGINES } },
      {
        extends: true,
        test: { name: '2-lambdas', include: [LAMBDAS], globalSetup: 'server/lambdas/build-child-for-tests.ts' },
      },
      {
        extends: true,
        test: {
          name: '3-platform',
          include: ['{server,electron,renderer,e2e,scripts,fixtures}/**/*.test.ts'],
          exclude: [...ENGINES, LAMBDAS, PODMAN],
        },
      },
      { extends: true, test: { name: '4-podman', include: [PODMAN], sequence: { groupOrder: 1 } } },
    ],
  },
});
