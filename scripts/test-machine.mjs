// What the tests need of the machine besides npm's packages: a container engine, a browser, a few programs. Installs and starts
// what is missing where that is possible (Debian, as root), and says exactly what is missing where it is not. The tests that need
// it fail then; nothing is skipped in silence.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, openSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const ENGINE_SOCKET = '/var/run/docker.sock';
const ENGINE_START_TIMEOUT_MS = 60_000;
const ASK_TIMEOUT_MS = 2_000;

/** What the tests start or read, and the Debian package that brings it. */
const NEEDED = [
  {
    what: 'Chromium, for the tests of the window',
    files: ['chromium-headless-shell', 'chromium'],
    debian: 'chromium-headless-shell',
  },
  { what: 'the Docker engine, for the tests of containers', files: ['dockerd'], debian: 'docker.io', isEngine: true },
  { what: 'iptables, for the Docker engine', files: ['iptables'], debian: 'iptables', isEngine: true },
  { what: 'a static busybox, of which test images are made', files: ['/bin/busybox'], debian: 'busybox-static' },
  { what: 'zsh, for the tests of completion', files: ['zsh'], debian: 'zsh' },
  { what: 'fish, for the tests of completion', files: ['fish'], debian: 'fish' },
  { what: 'git, for the tests of pipelines', files: ['git'], debian: 'git' },
  { what: 'rsync, for the tests of pipelines', files: ['rsync'], debian: 'rsync' },
  { what: 'Podman, for the tests of containers', files: ['podman'], debian: 'podman' },
  { what: "Podman's networks", files: ['/usr/lib/podman/netavark'], debian: 'netavark' },
  { what: "names in Podman's networks", files: ['/usr/lib/podman/aardvark-dns'], debian: 'aardvark-dns' },
];

/**
 * @param step runs a command: title, [command, ...arguments], options
 * @param say prints one line
 */
export async function prepareTestMachine({ step, say }) {
  const hasEngine = await engineAnswers();
  const missing = NEEDED.filter((one) => !(one.isEngine && hasEngine) && !one.files.some(find));
  if (missing.length > 0) await install(missing, { step, say });
  if (!hasEngine) await startEngine(say);
}

async function install(missing, { step, say }) {
  if (!mayInstall()) {
    for (const { what, debian } of missing)
      say(`missing: ${what} (Debian: apt-get install ${debian}); its tests will fail`);
    return;
  }
  const packages = missing.map((one) => one.debian);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await step('looking for Debian packages', ['apt-get', 'update', '-q'], { env });
    const apt = ['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...packages];
    await step(`installing ${packages.join(', ')}`, apt, { env });
  } catch (failure) {
    say(`${failure.message}; the tests that need ${packages.join(', ')} will fail`);
  }
}

/** The daemon goes on after the tests, as one that the system starts would; its id is told. */
async function startEngine(say) {
  const daemon = find('dockerd');
  if (!daemon || process.env.DOCKER_HOST || process.getuid?.() !== 0) {
    say('missing: no container engine answers (start Docker, or set DOCKER_HOST); the tests of containers will fail');
    return;
  }
  const log = join(mkdtempSync(join(tmpdir(), 'terrarium-dockerd-')), 'dockerd.log');
  const output = openSync(log, 'a');
  const child = spawn(daemon, [], { detached: true, stdio: ['ignore', output, output] });
  child.unref();
  const until = Date.now() + ENGINE_START_TIMEOUT_MS;
  while (!(await engineAnswers())) {
    if (child.exitCode !== null || Date.now() > until) {
      say(`the Docker engine did not start (see ${log}); the tests of containers will fail`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  say(`started the Docker engine (process ${child.pid}); it goes on running`);
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

/** The path of a program, wherever administrators' programs are, too. */
function find(file) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const candidates = file.startsWith('/') ? [file] : folders.map((folder) => join(folder, file));
  return candidates.find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function mayInstall() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && find('apt-get') !== undefined;
}
