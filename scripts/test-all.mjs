// `npm run test:all`: the second tier: tests that need a container engine, and tests that take long. Continuous integration runs it
// after `npm test`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NEWEST_LTS, newestNode } from './extra-packages.mjs';
import { hasOwnNetwork, inOwnNetwork, playwright, report, run, vitest } from './test-parts.mjs';

/** Tests for which another version of Node.js makes a difference. */
const AFFECTED = [
  'e2e',
  'server/api/server',
  'server/cli',
  'server/gateway',
  'server/library',
  'server/runtimes/lambdas',
  'server/storage',
  'server/system',
];

/** Each commit makes a part of the promises false, and the commits after it the others; `npm run mutations` makes all of them false. */
const PARTS = 20;
const commit = spawnSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' }).stdout;
const part = 1 + ((Number.parseInt(commit, 10) || 0) % PARTS);

// Podman leaves rules in the system's firewall, which block the next user of the same port: not at the same time as other engines' tests.
await run('podman', inOwnNetwork(vitest('podman')), ['podman', 'containers']);
// These load pages from containers, so they need the engine's networks, and none that change meanwhile: before other tests use the engine.
const pages = run('engine journeys', playwright('engine'), ['browser', 'containers', 'git']);
// Both mostly wait, which the other journeys fill where they have a network of their own.
if (!hasOwnNetwork) await pages;
await Promise.all([pages, run('slow journeys', inOwnNetwork(playwright('slow')), ['browser', 'git'])]);
// Not at the same time: some tests with containers count on a daemon that responds, and the slow ones keep all processors busy.
await run('engine tests', vitest('engine'), ['containers', 'git']);
await run('slow tests', vitest('slow', 'slow-window'), ['git']);
const underNewest = (project, ...rest) => [newestNode, ...vitest(project).slice(1), ...rest];
await run(`platform under Node.js ${NEWEST_LTS}`, underNewest('fast', ...AFFECTED));
await run(`slow tests under Node.js ${NEWEST_LTS}`, underNewest('slow', 'server/runtimes/lambdas'));
await run('mutations', [process.execPath, join('scripts', 'mutations.mjs'), '--part', `${part}/${PARTS}`]);
report();
