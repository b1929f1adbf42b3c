// `npm test`: all tests, as much at a time as leaves each of them what it needs. Containers change the machine's networks, and then
// Chromium breaks off what it is loading: nothing makes containers while the window's journeys are under way. Podman may have a network
// of its own, as root can give it on Linux: then what it leaves behind there harms nobody. What has failed keeps nothing else from
// running; the exit code is of all together.
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = (...projects) => [
  process.execPath,
  join('node_modules', 'vitest', 'vitest.mjs'),
  'run',
  ...projects.flatMap((project) => ['--project', project]),
];
const playwright = (project) => [
  process.execPath,
  join('node_modules', '@playwright', 'test', 'cli.js'),
  'test',
  '--no-deps',
  '--project',
  project,
];

/** What has a network of its own where nobody else is: only a loopback, and no news of what others do to theirs. */
const APART = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const canBeApart = process.platform === 'linux' && spawnSync(APART[0], [...APART.slice(1), 'true']).status === 0;

// Tests speak to loopback only; to read a system's certificates takes each Node process longer than all else of its start.
delete process.env.NODE_EXTRA_CA_CERTS;

const told = [];
/** What failed parts said of their failures, repeated at the end: a log is read from there, and often nothing else of it is kept. */
const failures = [];
/** As many lines of that are told of one part, from its beginning and its end, where the names are. */
const FAILURE_LINES = 60;
const LAST_LINES = 15;
/** Where Playwright begins to tell of failures, and Vitest. */
const FAILURES_BEGIN = /^\s+1\) \[|Failed (Tests|Suites) \d+/;

/** Runs a part to its end, each of its lines with the part's name before it. */
async function run(name, [command, ...args]) {
  const startedAt = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line) && console.log(`${name} | ${line}`));
  }
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  if (code !== 0) {
    process.exitCode = 1;
    const begin = lines.findIndex((line) => FAILURES_BEGIN.test(stripVTControlCharacters(line)));
    const last = Math.max(begin, lines.length - LAST_LINES);
    const first = begin < 0 ? [] : lines.slice(begin, Math.min(begin + FAILURE_LINES, last));
    failures.push(...[...first, ...lines.slice(last)].map((line) => `${name} | ${line}`));
  }
  told.push(`test: ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedAt) / 1000).toFixed(0)} s)`);
}

/** They make no containers, so what has an engine may go on beside them, and comes first when both have something to do. */
const giveWay = process.platform === 'win32' ? [] : ['nice', '-n', '5'];

/** It leaves rules in the system's firewall: in a network of its own beside others, else when they have ended. */
const podman = () => run('podman', [...(canBeApart ? APART : []), ...vitest('4-podman')]);

// The window's journeys have the machine to themselves: a browser, its platform and a person's patience are what a test should hold
// to, not how many others compute. Then what waits most runs beside what computes most and gives way to it.
await run('window', playwright('window'));
const beside = [run('others', [...giveWay, ...vitest('2-lambdas', '3-platform')])];
// It is another engine than that of the tests, and mostly waits, as they do.
if (canBeApart) beside.push(podman());
await run('engines', vitest('1-engines'));
// These need the engine's own networks.
await run('engine journeys', playwright('engine'));
await Promise.all(beside);
if (!canBeApart) await podman();
console.log([...failures, ...told].join('\n'));
