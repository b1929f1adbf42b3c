// Programs that the tests need besides npm's packages. Setup installs and starts what is missing where possible (Debian, as root).
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, findProgram } from './find-program.mjs';

const ENGINE_SOCKET = '/var/run/docker.sock';
const ENGINE_START_TIMEOUT_MS = 60_000;
const ASK_TIMEOUT_MS = 2_000;

/** Programs that tests start or read, the Debian package of each, and the kind of tests that needs it. */
const NEEDED = [
  {
    kind: 'browser',
    file: 'chromium-headless-shell',
    debian: 'chromium-headless-shell',
    // Any Chromium will do, but this one takes a fifth less time, which is worth its installation to a machine that only runs tests.
    find: process.env.CI ? findProgram : findChromium,
  },
  { kind: 'containers', file: 'dockerd', debian: 'docker.io', isEngine: true },
  { kind: 'containers', file: 'iptables', debian: 'iptables', isEngine: true },
  // The second node of a swarm has a network namespace of its own.
  { kind: 'containers', file: 'ip', debian: 'iproute2' },
  // Test images are made of it, so it has to be static.
  { kind: 'containers', file: '/bin/busybox', debian: 'busybox-static' },
  { kind: 'zsh', file: 'zsh', debian: 'zsh' },
  { kind: 'fish', file: 'fish', debian: 'fish' },
  { kind: 'git', file: 'git', debian: 'git' },
  { kind: 'strace', file: 'strace', debian: 'strace' },
  { kind: 'faketime', file: 'faketime', debian: 'faketime' },
  { kind: 'podman', file: 'podman', debian: 'podman' },
  { kind: 'podman', file: '/usr/lib/podman/netavark', debian: 'netavark' },
  { kind: 'podman', file: '/usr/lib/podman/aardvark-dns', debian: 'aardvark-dns' },
];
/** The kinds of tests in the first tier (`npm test`); all others belong to `npm run test:all`. */
export const FIRST_TIER = ['browser'];
const isMissing = ({ file, find = findProgram }) => find(file) === undefined;

/**
 * The kinds of tests that cannot run here, each with the reason and what to do; none with the variable CI set, where all have to run.
 *
 * @returns {Promise<Map<string, { reason: string, remedy: string }>>}
 */
export async function missingKinds() {
  if (process.env.CI) return new Map();
  const hasEngine = await engineAnswers();
  const missing = NEEDED.filter((program) => !program.isEngine && isMissing(program)).map(({ kind, file, debian }) => [
    kind,
    { reason: `no ${file}`, remedy: `Debian: apt-get install ${debian}` },
  ]);
  if (!hasEngine) {
    const fix = 'Debian: apt-get install docker.io iptables; start it, or set DOCKER_HOST';
    missing.push(['containers', { reason: 'no engine', remedy: fix }]);
  }
  return new Map(missing);
}

/**
 * Installs and starts what the tests need, where that is possible.
 *
 * @param options.kinds the kinds of tests to prepare; all by default
 * @param options.step runs a command: title, [command, ...arguments], options
 * @param options.report prints one line
 */
export async function prepareTestMachine({ kinds, step, report }) {
  const programs = kinds ? NEEDED.filter(({ kind }) => kinds.includes(kind)) : NEEDED;
  const needsEngine = programs.some(({ isEngine }) => isEngine) && !(await engineAnswers());
  const missing = programs.filter((program) => (!program.isEngine || needsEngine) && isMissing(program));
  if (missing.length > 0 && mayInstall()) await install(missing, { step, report });
  if (needsEngine) await startEngine(report);
}

async function install(missing, { step, report }) {
  const packages = missing.map(({ debian }) => debian);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await step('looking for Debian packages', ['apt-get', 'update', '-q'], { env });
    const apt = ['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...packages];
    await step(`installing ${packages.join(', ')}`, apt, { env });
  } catch (failure) {
    report(failure.message);
  }
}

/** The daemon continues to run after the tests, as one that the system starts would; its process id is printed. */
async function startEngine(report) {
  const daemon = findProgram('dockerd');
  if (!daemon || process.env.DOCKER_HOST || process.getuid?.() !== 0) return;
  const log = join(mkdtempSync(join(tmpdir(), 'terrarium-dockerd-')), 'dockerd.log');
  const output = openSync(log, 'a');
  const child = spawn(daemon, [], { detached: true, stdio: ['ignore', output, output] });
  child.unref();
  const until = Date.now() + ENGINE_START_TIMEOUT_MS;
  while (!(await engineAnswers())) {
    if (child.exitCode !== null || Date.now() > until) {
      report(`the Docker engine did not start (see ${log})`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  report(`started the Docker engine (process ${child.pid}); it continues to run`);
}

function engineAnswers() {
  return new Promise((resolve) => {
    const address = process.env.DOCKER_HOST ?? `unix://${ENGINE_SOCKET}`;
    const { hostname, port, pathname } = new URL(address);
    const at = address.startsWith('unix:') ? { socketPath: pathname } : { hostname, port };
    const asking = request({ ...at, path: '/_ping', timeout: ASK_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asking.once('timeout', () => asking.destroy());
    asking.once('error', () => resolve(false));
    asking.end();
  });
}

function mayInstall() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined;
}
