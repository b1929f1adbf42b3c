// Prepares a bare clone: runs before `npm start`, `npm test` and (packages only) `npm run check`. It installs the packages, so it uses
// only modules of Node.js.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeComplaint } from '../entries/check-node.cjs';
import { isBuilt } from './build-stamp.mjs';
import { packagesComplaint } from './installed-packages.mjs';
import { exclusively } from './setup-lock.mjs';
import { FIRST_TIER, prepareTestMachine } from './test-machine.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PROGRESS_EVERY_MS = 5_000;
/** The reason that npm prints when it cannot reach a registry. */
const UNREACHABLE = /^npm (?:error|ERR!).*?(request to \S+ failed, reason: .*|network timeout at: \S+)/m;

const report = (sentence) => console.log(`setup: ${sentence}`);

/** Runs a command and prints a line at its start, every few seconds and at its end. Prints the command's output only if it fails. */
async function step(title, [command, ...args], options = {}) {
  const startedAt = Date.now();
  const elapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  report(`${title} ...`);
  const progress = setInterval(() => report(`${title} ... ${elapsed()}`), PROGRESS_EVERY_MS);
  try {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) {
      const text = Buffer.concat(output).toString();
      const [, unreachable] = UNREACHABLE.exec(text) ?? [];
      if (unreachable)
        throw new Error(
          `${title} failed: ${unreachable}. Check the network and the proxy settings of npm, then run the command again.`,
        );
      process.stderr.write(text);
      throw new Error(`${title} failed with exit code ${code}; its output is above`);
    }
  } finally {
    clearInterval(progress);
  }
  report(`${title}: done in ${elapsed()}`);
}

/** Runs `npm ci` with the npm that runs this script. Uses a shell only if npm is a batch file (Windows) and its script is unknown. */
function install() {
  // Without a network, npm by default waits 70 seconds between its attempts.
  const attempts = ['--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000'];
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...attempts];
  const npmScript = process.env.npm_execpath;
  if (npmScript && /npm-cli\.[cm]?js$/.test(npmScript)) {
    return step('installing packages (npm ci)', [process.execPath, npmScript, ...args]);
  }
  return step('installing packages (npm ci)', ['npm', ...args], { shell: process.platform === 'win32' });
}

/** Lets `npx terrarium-emulator` work in the clone: npm looks for the command of the package in this folder, but does not create it. */
function linkCommand() {
  const folder = join(root, 'node_modules', '.bin');
  for (const [name, file] of Object.entries(readPackage().bin ?? {})) {
    if (existsSync(join(folder, name))) continue;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.cmd`), `@node "%~dp0\\..\\..\\${file}" %*\r\n`);
    writeFileSync(join(folder, name), `#!/bin/sh\nexec node "$(dirname "$0")/../../${file}" "$@"\n`, { mode: 0o755 });
  }
}

/** @param {{ hasToRun: boolean }} options whether to build the server as well */
async function setUp({ hasToRun }) {
  const isReady = () => !hasToRun || isBuilt(root);
  const versionError = nodeComplaint(process.versions.node, readPackage().engines.node);
  if (versionError) throw new Error(versionError);
  if (!packagesComplaint(root) && isReady()) return;
  await exclusively(join(root, 'dist', '.setup-lock'), {
    onWait: () => report('waiting for another setup of this folder to finish ...'),
    async work() {
      const reason = packagesComplaint(root);
      if (reason) {
        report(reason);
        await install();
      }
      if (!isReady()) await step('building the server', [process.execPath, join(root, 'scripts', 'build.mjs')]);
    },
  });
}

function readPackage() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

try {
  await setUp({ hasToRun: process.argv[2] !== 'packages' });
  linkCommand();
  if (process.argv[2] === 'test') await prepareTestMachine({ kinds: FIRST_TIER, step, report });
  if (process.argv[2] === 'test:all') await prepareTestMachine({ step, report });
} catch (error) {
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}
