// What a developer waits for each day: a command around a test run, a platform of a test suite, its reset, and a push of the sample
// app until its address answers. Each is measured from outside, with dist/ as it ships. Look at the medians; they are this machine's.
//
//   node bench/run.mjs everyday [runs]      without a container engine all but the push
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { StartEmulator } from '../server/library/api.ts';

const RUNS = Number(process.argv[2] ?? 7);
const RESETS = 50;
const PUSHES = Math.min(3, RUNS);
const cli = join(process.cwd(), 'dist', 'server', 'cli.js');
const folder = await mkdtemp(join(tmpdir(), 'terrarium-everyday-'));

/** Runs `terrarium ARGS` to its end; resolves to what it printed. */
async function terrarium(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [cli, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [out, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (exitCode !== 0) throw new Error(`terrarium ${args.join(' ')} ended with ${exitCode}: ${out}`);
  return out;
}

/** Milliseconds that each of some runs takes, sorted. */
async function timed(count: number, work: (run: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let run = 0; run < count; run += 1) {
    const startedAtMs = performance.now();
    await work(run);
    took.push(performance.now() - startedAtMs);
  }
  return took.sort((one, other) => one - other);
}

function tell(what: string, took: readonly number[]): void {
  const shown = [took[0], took[took.length >> 1], took.at(-1)].map((ms = 0) =>
    ms.toFixed(ms < 100 ? 1 : 0).padStart(9),
  );
  console.log(`${what.padEnd(44)}${shown.join('')}  (${took.length} runs)`);
}

/** From the command until the app's first 200: the command itself waits for that; it is looked at once more. */
async function push(run: number): Promise<void> {
  const out = await terrarium('pipeline', 'demo', '--branch', `feature/run-${run}`);
  const [, url = ''] = / is at (\S+)/.exec(out) ?? [];
  const { status } = await fetch(`${url}/`);
  if (status !== 200) throw new Error(`${url} answered ${status}`);
}

try {
  console.log(`${'milliseconds'.padEnd(44)}${['least', 'median', 'most'].map((word) => word.padStart(9)).join('')}`);
  tell('exec -- true', await timed(RUNS, () => terrarium('exec', '--containers-engine', 'none', '--', 'true')));

  const { startEmulator } = (await import(pathToFileURL(join(cli, '..', 'library.js')).href)) as {
    startEmulator: StartEmulator;
  };
  const platforms: Awaited<ReturnType<StartEmulator>>[] = [];
  tell(
    'startEmulator()',
    await timed(RUNS, async () => platforms.push(await startEmulator({ containers: { engine: 'none' } }))),
  );
  const [platform] = platforms;
  const resets: number[] = [];
  for (let run = 0; run < RESETS; run += 1) {
    // There has to be something to take back.
    await platform?.deploy('/shop/test/orders', { code: 'exports.run = () => 1' });
    resets.push(...(await timed(1, async () => platform?.reset())));
  }
  tell(
    'reset(), after a lambda was deployed',
    resets.sort((one, other) => one - other),
  );
  for (const one of platforms) await one.stop();

  await terrarium('start', '--detach', '--base-port', '0', '--gateway-port', '0', '--headless');
  try {
    const { checks } = JSON.parse(await terrarium('doctor', '--json')) as { checks: { name: string; ok: boolean }[] };
    if (checks.some(({ name, ok }) => (name === 'Docker' || name === 'Podman') && ok))
      tell("the sample's pipeline, push to first 200", await timed(PUSHES, push));
    else console.log('no container engine answers: the pipeline of the sample is left out');
  } finally {
    await terrarium('stop');
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
