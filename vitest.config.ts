import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { typeKinds } from './server/api/routes/type-naming.ts';
import { isMissing } from './server/testing/missing-here.ts';

/** Tests that use a container engine; they mostly wait. Every test that creates containers must be here: scripts/test.mjs relies on it. */
const ENGINES = [
  'server/runtimes/containers/**/*.test.ts',
  'e2e/container*.test.ts',
  'e2e/engine-*.test.ts',
  'e2e/swarm.test.ts',
  'e2e/image.test.ts',
  'e2e/pipeline.test.ts',
  'e2e/pipeline-deployments.test.ts',
  'e2e/pipeline-docker.test.ts',
  'e2e/pipeline-isolation.test.ts',
  'e2e/pipeline-machine.test.ts',
  'e2e/pipeline-registry.test.ts',
  'e2e/pipeline-reuse.test.ts',
  'e2e/pipeline-shape.test.ts',
];
/** The slowest of them, which wait for an engine or run many pipelines. scripts/test-all.mjs runs them. */
const SLOW_ENGINES = [
  'e2e/container-faults.test.ts',
  'e2e/engine-hangs.test.ts',
  'e2e/engine-leftovers.test.ts',
  'e2e/image.test.ts',
  'e2e/pipeline.test.ts',
  'e2e/pipeline-deployments.test.ts',
  'e2e/pipeline-isolation.test.ts',
  'e2e/pipeline-reuse.test.ts',
  'e2e/pipeline-shape.test.ts',
  'e2e/swarm.test.ts',
];
/**
 * Podman sometimes leaves rules in the system's firewall, which block the next user of the same port. So its test runs alone after
 * all others or, if possible, in a separate network (scripts/test-all.mjs).
 */
const PODMAN = 'e2e/podman.test.ts';
/** Tests that are slow by nature. scripts/test-all.mjs runs them. */
const SLOW = [
  'e2e/api-clients.test.ts',
  'e2e/authorization-matrix.test.ts',
  'e2e/crash.test.ts',
  'e2e/docs-commands.test.ts',
  'e2e/env-proxy.test.ts',
  'e2e/files-in-use.test.ts',
  'e2e/nameless-user.test.ts',
  'e2e/package-managers.test.ts',
  'e2e/package.test.ts',
  'e2e/pipeline-mock-gitlab.test.ts',
  'e2e/pipeline-plan.test.ts',
  'e2e/pipeline-rules.test.ts',
  'e2e/pipeline-trouble.test.ts',
  'e2e/pipeline-variables.test.ts',
  'e2e/power-cut.test.ts',
  'e2e/wind-down.test.ts',
  'server/cli/local-commands.test.ts',
  'server/cli/platform-commands.test.ts',
  'server/platform/folder-damage.test.ts',
  'server/platform/kept-folders.test.ts',
  'server/runtimes/lambdas/handler-edges.test.ts',
  'server/runtimes/lambdas/handler-shapes.test.ts',
  'server/runtimes/lambdas/lambda-mistakes.test.ts',
  'server/runtimes/lambdas/lambda-modules.test.ts',
  'server/runtimes/lambdas/outbound-bodies.test.ts',
  'server/runtimes/lambdas/outbound-forms.test.ts',
  'server/runtimes/lambdas/outbound-libraries.test.ts',
  'server/runtimes/lambdas/package-revisions.test.ts',
  'server/storage/records/record-damage.test.ts',
];
const SLOW_WINDOW = 'renderer/src/screens/resources/create-dialog.test.tsx';
/** Tests that need Git. Some of them also need an engine. */
const PIPELINES = ['e2e/pipeline*.test.ts', 'server/mocks/scm/mock-scm.test.ts'];
const notHere = isMissing('pipelines') ? PIPELINES : [];
/** Builds the bootstrap of lambda processes from the current sources, for tests that start such processes themselves. */
const BUILD_CHILD = 'server/testing/build-child.ts';

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
    // These timeouts only end tests that hang. They are long enough for a busy machine, and waits end as soon as their condition is met.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Projects run in the order of their names: the ones that wait most come first, and the others fill the gaps.
    projects: [
      {
        extends: true,
        test: { name: '1-engines', include: ENGINES, exclude: [...SLOW_ENGINES, ...notHere] },
      },
      {
        extends: true,
        test: {
          name: '2-platform',
          include: ['{server,electron,renderer,e2e,scripts,fixtures}/**/*.test.ts'],
          exclude: [...ENGINES, PODMAN, ...SLOW, ...notHere],
          globalSetup: BUILD_CHILD,
        },
      },
      {
        extends: true,
        test: { name: '3-window', include: ['renderer/**/*.test.tsx'], exclude: [SLOW_WINDOW], setupFiles: DOM },
      },
      { extends: true, test: { name: '4-podman', include: [PODMAN], sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: { name: '5-slow', include: SLOW, exclude: notHere, globalSetup: BUILD_CHILD },
      },
      {
        extends: true,
        test: { name: '5-slow-engines', include: SLOW_ENGINES, exclude: notHere },
      },
      { extends: true, test: { name: '5-slow-window', include: [SLOW_WINDOW], setupFiles: DOM } },
    ],
  },
});
