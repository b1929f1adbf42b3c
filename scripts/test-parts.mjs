// Runs and reports the parts of scripts/test.mjs and scripts/test-all.mjs. All parts run, even if one fails. A part for which the machine
// lacks a program is skipped and reported with the reason; with the variable CI set, it runs and fails.
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { missingKinds } from './test-machine.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param projects of vitest.config.ts */
export const vitest = (...projects) => [
  process.execPath,
  join('node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  `--reporter=${join('scripts', 'slowest-files.mjs')}`,
  ...projects.flatMap((project) => ['--project', project]),
];

/** @param project of playwright.config.ts */
export const playwright = (project) => [
  process.execPath,
  join('node_modules', '@playwright', 'test', 'cli.js'),
  'test',
  '--no-deps',
  // Each project clears its own folder: another one may be running.
  '--output',
  join('dist', 'playwright', project),
  '--project',
  project,
];

/** Runs another command in a network namespace with only a loopback interface. */
const unshareCommand = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
/** Root of a namespace may set up its network; the command itself runs as the user that it would be elsewhere. */
const asUser = [
  ...['unshare', '--user', '--map-root-user', '--net', 'sh', '-c'],
  `ip link set lo up && exec unshare --user --map-user=${process.getuid?.()} --map-group=${process.getgid?.()} "$@"`,
  'sh',
];
const works = ([command, ...args]) => spawnSync(command, [...args, 'true']).status === 0;
const ownNetwork = process.platform === 'linux' ? [unshareCommand, asUser].find(works) : undefined;
export const hasOwnNetwork = ownNetwork !== undefined;
/** The command in a network of its own, where the system allows that. */
export const inOwnNetwork = (command) => [...(ownNetwork ?? []), ...command];

// Tests use loopback only; reading a system's certificates takes each Node process longer than the rest of its start.
delete process.env.NODE_EXTRA_CA_CERTS;

const missing = await missingKinds();
/** Read by the tests that need only a program (server/testing/is-missing.ts). */
process.env.TERRARIUM_TESTS_WITHOUT = [...missing.keys()].join(',');

/** True if the machine lacks a kind of test (scripts/test-machine.mjs). */
const lacks = (kind) => missing.has(kind);

const results = [];
const failed = [];
/** Failure messages of failed parts, repeated at the end, because often only the end of a log is kept. */
const failures = [];
/** Output lines repeated for each failed part: from the first failure, and from the end, where the names are. */
const FAILURE_LINES = 60;
const LAST_LINES = 15;
/** Matches the line at which Playwright's or Vitest's list of failures begins. */
const FAILURES_BEGIN = /^\s+1\) \[|Failed (Tests|Suites) \d+/;

/**
 * Runs a part to its end, each of its lines with the part's name before it.
 *
 * @param needs kinds of tests that all of the part is (scripts/test-machine.mjs); when the machine lacks one, the part does not run
 */
export async function run(name, [command, ...args], needs = []) {
  if (needs.some(lacks)) return;
  const startedAt = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line) && console.log(`${name} | ${line}`));
  }
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  if (code !== 0) {
    process.exitCode = 1;
    failed.push(name);
    const begin = lines.findIndex((line) => FAILURES_BEGIN.test(stripVTControlCharacters(line)));
    const last = Math.max(begin, lines.length - LAST_LINES);
    const first = begin < 0 ? [] : lines.slice(begin, Math.min(begin + FAILURE_LINES, last));
    failures.push(...[...first, ...lines.slice(last)].map((line) => `${name} | ${line}`));
  }
  results.push(`test: ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedAt) / 1000).toFixed(0)} s)`);
}

/**
 * Prints what failed, how each part ended, what did not run and how to change that, and the overall result.
 *
 * @param kinds the kinds of tests that the parts contain; all by default
 */
export function report(kinds = [...missing.keys()]) {
  const notRunKinds = [...missing].filter(([kind]) => kinds.includes(kind));
  const remedies = notRunKinds.map(
    ([kind, { reason, remedy }]) => `test: not run here: ${kind}: ${reason} (${remedy})`,
  );
  const result = failed.length > 0 ? `FAILED: ${failed.join(', ')}` : 'passed';
  const notRun = notRunKinds.map(([kind, { reason }]) => `${kind} (${reason})`);
  const exceptions = notRun.length > 0 ? `; not run here: ${notRun.join(', ')}` : '';
  console.log([...failures, ...results, ...remedies, `test: ${result}${exceptions}`].join('\n'));
}
