// For a machine with a desktop: tests the window in the real Electron, and its packaging.
//
//   npm run verify:shell
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const electron = join(root, 'node_modules', 'electron');
const RESULTS = join(root, 'dist', 'verify-shell.json');

/** Returns why the shell cannot be tested here; undefined if it can. */
function skipReason() {
  const { env, platform, versions } = process;
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 12))
    return `Electron and its packer take Node 22.12 or newer, and this is ${versions.node}: install a newer one`;
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY)
    return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): run it on a desktop';
  if (platform === 'linux' && process.getuid() === 0)
    return 'root has no sandbox, which is part of what is tried: run it as another user';
  return undefined;
}

function run(title, args, env = {}) {
  console.log(`\n# ${title}`);
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) fail(`${title}: exit code ${status}`);
}

function verify() {
  const npm = process.env.npm_execpath ?? fail('start it with `npm run verify:shell`');
  run('setup and build', ['scripts/setup.mjs', 'start']);
  run("Electron's binary", [join(electron, 'install.js')]);
  const journey = ['test', '--project', 'window', '--no-deps', '--reporter', 'list,json', 'e2e/shell.spec.ts'];
  // No browser is opened by it, and the settings of the tests ask for one.
  const CHROMIUM_PATH = join(electron, 'dist', readFileSync(join(electron, 'path.txt'), 'utf8'));
  const env = { CHROMIUM_PATH, PLAYWRIGHT_JSON_OUTPUT_NAME: RESULTS };
  run('journey in the real binary', ['node_modules/@playwright/test/cli.js', ...journey], env);
  const { expected, skipped } = JSON.parse(readFileSync(RESULTS, 'utf8')).stats;
  if (expected === 0 || skipped > 0) fail(`journey in the real binary: ${expected} passed, ${skipped} skipped`);
  run('package -- --dir', [npm, 'run', 'package', '--', '--dir']);
  const { version } = JSON.parse(readFileSync(join(electron, 'package.json'), 'utf8'));
  const system = `${process.platform} ${release()} ${process.arch}`;
  console.log(`\nverify:shell: passed on ${system}, Node.js ${process.versions.node}, Electron ${version}`);
}

function fail(sentence) {
  console.error(`verify:shell: ${sentence}`);
  process.exit(1);
}

const reason = skipReason();
if (reason) fail(reason);
verify();
