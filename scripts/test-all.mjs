// `npm run test:all`: the tests that are slow by nature, one part after another as in scripts/test.mjs, except for those
// that mostly wait. Continuous integration runs it after `npm test`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NEWEST_LTS, newestNode } from './extra-packages.mjs';
import { hasOwnNetwork, inOwnNetwork, lacks, playwright, report, run, vitest } from './test-parts.mjs';

/** Where another version of Node.js makes a difference. */
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
const podman = run('podman', inOwnNetwork(vitest('4-podman')), ['podman', 'containers']);
// These load pages from containers, so they need the engine's networks, and none that change meanwhile: before other tests use the engine.
const pages = podman.then(() => run('engine journeys', playwright('engine'), ['browser', 'containers']));
// Both mostly wait, which the other journeys fill where they have a network of their own.
if (!hasOwnNetwork) await pages;
await Promise.all([pages, run('slow journeys', inOwnNetwork(playwright('slow')), ['browser'])]);
await run('slow tests', vitest(...(lacks('containers') ? [] : ['5-slow-engines']), '5-slow', '5-slow-window'));
const underNewest = (project, folders) => [newestNode, ...vitest(project).slice(1), ...folders];
await run(`platform under Node.js ${NEWEST_LTS}`, underNewest('2-platform', AFFECTED));
await run(`slow tests under Node.js ${NEWEST_LTS}`, underNewest('5-slow', ['server/runtimes/lambdas']));
await run('mutations', [process.execPath, join('scripts', 'mutations.mjs'), '--part', `${part}/${PARTS}`]);
report();
