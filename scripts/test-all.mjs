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

const commits =
  Number.parseInt(spawnSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' }).stdout, 10) || 0;
/** One of so many parts, and another one for the next commit: `2/20`. */
const partOf = (parts) => `${1 + (commits % parts)}/${parts}`;
/** Parts of the promises that are made false; `npm run mutations` makes all of them false. */
const MUTATED_PARTS = 20;
/** Parts of the test files that run under another version of Node.js as well. */
const AFFECTED_PARTS = 2;

// Podman leaves rules in the system's firewall, which block the next user of the same port: not at the same time as other engines' tests.
await run('podman', inOwnNetwork(vitest('podman')), ['podman', 'containers']);
/** Tests with containers mostly wait for the engine, beside all others. The journeys come first: pages of containers need networks that do not change meanwhile. */
async function testWithEngine() {
  await run('engine journeys', playwright('engine'), ['browser', 'containers', 'git']);
  await run('engine tests', vitest('engine'), ['containers', 'git']);
}
const engineTests = testWithEngine();
// A browser without a network of its own notices each network that the engine creates.
if (!hasOwnNetwork) await engineTests;
await run('slow journeys', inOwnNetwork(playwright('slow')), ['browser', 'git']);
await run('slow tests', vitest('slow', 'slow-window'), ['git']);
const underNewest = (project, ...rest) => [
  newestNode,
  ...vitest(project).slice(1),
  `--shard=${partOf(AFFECTED_PARTS)}`,
  ...rest,
];
await run(`platform under Node.js ${NEWEST_LTS}`, underNewest('fast', ...AFFECTED));
await run(`slow tests under Node.js ${NEWEST_LTS}`, underNewest('slow', 'server/runtimes/lambdas'));
// Some mutations are noticed by tests with an engine.
await engineTests;
await run('mutations', [process.execPath, join('scripts', 'mutations.mjs'), '--part', partOf(MUTATED_PARTS)]);
report();
