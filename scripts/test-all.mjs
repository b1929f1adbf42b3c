// `npm run test:all`: the tests that are slow by nature, in three sequences side by side. Continuous integration runs it after `npm test`;
// it takes at most fifteen minutes on two processors.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { NEWEST_LTS, newestNode } from './extra-packages.mjs';
import { inOwnNetwork, playwright, report, run, vitest } from './test-parts.mjs';

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
const PARTS = 10;
const commit = spawnSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' }).stdout;
const part = 1 + ((Number.parseInt(commit, 10) || 0) % PARTS);

// Podman leaves rules in the system's firewall, which block the next user of the same port: not at the same time as other tests.
await run('podman', inOwnNetwork(vitest('4-podman')), ['podman', 'containers']);
// These load pages from containers, so they need the engine's networks, and none that change meanwhile: before other tests use the engine.
const pages = run('engine journeys', playwright('engine'), ['browser', 'containers']);
const journeys = pages.then(() => run('slow journeys', inOwnNetwork(playwright('slow')), ['browser']));
const engines = pages.then(() => run('engines', vitest('5-slow-engines'), ['containers']));
const others = run('packages and pipelines', vitest('5-slow'))
  .then(() =>
    run(`others under Node.js ${NEWEST_LTS}`, [newestNode, ...vitest('2-lambdas', '3-platform').slice(1), ...AFFECTED]),
  )
  .then(() => run('mutations', [process.execPath, join('scripts', 'mutations.mjs'), '--part', `${part}/${PARTS}`]));
await Promise.all([journeys, engines, others]);
// Prints its table and never fails; last, when nothing else runs.
await run('speed', [process.execPath, join('bench', 'run.mjs'), 'speed', 'baselines']);
report();
