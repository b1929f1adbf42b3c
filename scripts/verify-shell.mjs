// For a machine with a desktop: tests the window in the real Electron and its packaging. One command, and a report to paste.
//
//   npm run verify:shell
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const electron = join(root, 'node_modules', 'electron');
const REPORT = join('dist', 'verify-shell.md');
const RESULTS = join(root, 'dist', 'verify-shell.json');
/** Number of last lines in the report of a failed step. */
const SHOWN_LINES = 30;

/** Returns why the shell cannot be tested here; undefined if it can. */
export function skipReasonFor({ env, platform, nodeVersion, uid }) {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 12))
    return `Electron and its packer take Node 22.12 or newer, and this is ${nodeVersion}: install a newer one`;
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY)
    return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): run it on a desktop';
  if (platform === 'linux' && uid === 0)
    return 'root has no sandbox, which is part of what is tried: run it as another user';
  return undefined;
}

/** The report, in Markdown. `steps` are `{title, verdict, seconds, lines}`, `lines` the last of one that failed. */
export function reportOf(facts, steps) {
  const rows = steps.map(({ title, verdict, seconds }) => `| ${title} | ${verdict} | ${seconds.toFixed(0)} s |`);
  const failed = steps.filter(({ lines }) => lines.length > 0);
  return [
    '## The shell in the real Electron',
    '',
    ...Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`),
    '',
    '| step | verdict | took |',
    '|---|---|---|',
    ...rows,
    ...failed.flatMap(({ title, lines }) => ['', `${title}:`, '', '```', ...lines, '```']),
    '',
  ].join('\n');
}

/** Runs one step, with its output on the screen, too. */
async function run(title, args, { env = {}, isGood = () => undefined } = {}) {
  console.log(`\n# ${title}`);
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const [stream, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ])
    stream.on('data', (chunk) => {
      output += chunk;
      to.write(chunk);
    });
  const exitCode = await new Promise((resolve) => child.on('close', resolve));
  const error = exitCode === 0 ? isGood() : `exit code ${exitCode}`;
  const lines = error ? output.trim().split('\n').slice(-SHOWN_LINES) : [];
  return { title, verdict: error ?? 'ok', seconds: (performance.now() - startedAtMs) / 1_000, lines };
}

/** One that is skipped is no good. */
function checkJourney() {
  const { stats } = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const { expected, skipped, unexpected } = stats;
  return expected > 0 && skipped === 0 && unexpected === 0 ? undefined : `${expected} passed, ${skipped} skipped`;
}

function binary() {
  return join(electron, 'dist', readFileSync(join(electron, 'path.txt'), 'utf8'));
}

async function verify() {
  const npx = process.env.npm_execpath ?? fail('start it with `npm run verify:shell`');
  const steps = [];
  const step = async (...args) => {
    // Steps after a failed one could only fail, too.
    if (steps.some(({ verdict }) => verdict !== 'ok')) return;
    steps.push(await run(...args));
  };
  await step('setup and build', ['scripts/setup.mjs', 'start']);
  await step("Electron's binary", [join(electron, 'install.js')]);
  if (steps.every(({ verdict }) => verdict === 'ok'))
    await step(
      'journey in the real binary',
      [
        'node_modules/@playwright/test/cli.js',
        'test',
        '--project',
        'window',
        '--no-deps',
        '--reporter',
        'list,json',
        'e2e/shell.spec.ts',
      ],
      // No browser is opened by it, and the settings of the tests ask for one.
      { env: { CHROMIUM_PATH: binary(), PLAYWRIGHT_JSON_OUTPUT_NAME: RESULTS }, isGood: checkJourney },
    );
  await step('package -- --dir', [npx, 'run', 'package', '--', '--dir']);
  const { version } = JSON.parse(readFileSync(join(electron, 'package.json'), 'utf8'));
  const desktop = process.env.XDG_SESSION_TYPE ?? (process.env.WAYLAND_DISPLAY ? 'wayland' : undefined);
  const report = reportOf(
    {
      system: `${process.platform} ${release()} ${process.arch}${desktop ? `, ${desktop}` : ''}`,
      Node: process.versions.node,
      Electron: version,
    },
    steps,
  );
  writeFileSync(join(root, REPORT), report);
  console.log(`\n${report}\nThis is ${REPORT}: paste it where you were asked for it.`);
  process.exitCode = steps.every(({ verdict }) => verdict === 'ok') ? 0 : 1;
}

function fail(sentence) {
  console.error(`verify:shell: ${sentence}`);
  process.exit(1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { env, platform, versions } = process;
  const skipReason = skipReasonFor({ env, platform, nodeVersion: versions.node, uid: process.getuid?.() });
  if (skipReason) fail(skipReason);
  await verify();
}
