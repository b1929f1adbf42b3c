// Runs a benchmark: node bench/run.mjs NAME [arguments]. It bundles bench/NAME.ts to dist/bench first, so that what is measured is the
// code as it ships. `whole` runs all that have goals, one after another because each needs the whole machine, prints one table, and writes
// it to figures.md; with `--quick`, only what needs no other emulators, in two minutes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, root } from '../scripts/bundle.mjs';

const QUICK_BENCHMARKS = ['speed baselines'];
const ALL_BENCHMARKS = ['speed', 'speed memory', 'control-plane', 'store', 'records', 'frames', 'floods'];

const outDir = join(root, 'dist', 'bench');
const [name = '', ...args] = process.argv.slice(2);
const isQuick = args.includes('--quick');

async function buildBenchmark(name, source = join(root, 'bench', `${name}.ts`)) {
  const output = { format: 'es', entryFileNames: '[name].js' };
  await bundle({ input: { [name]: source }, outDir, output, external: ['@playwright/test'] });
  return join(outDir, `${name}.js`);
}

async function run(name, args, env = process.env) {
  return spawnSync(process.execPath, [await buildBenchmark(name), ...args], { stdio: 'inherit', env }).status ?? 1;
}

async function runAll() {
  const { printLines } = await import(
    pathToFileURL(await buildBenchmark('goals', join(root, 'bench', 'speed', 'goals.ts'))).href
  );
  const [lines, failed] = [[], []];
  const file = join(outDir, 'lines.json');
  mkdirSync(outDir, { recursive: true });
  for (const all of args.length === 0 ? ALL_BENCHMARKS : isQuick ? QUICK_BENCHMARKS : args) {
    console.log(`\n== ${all}\n`);
    rmSync(file, { force: true });
    const [name, ...more] = all.split(' ');
    if ((await run(name, more, { ...process.env, BENCH_LINES: file })) !== 0) failed.push(all);
    if (existsSync(file)) lines.push(...JSON.parse(readFileSync(file, 'utf8')));
  }
  console.log('\n== all rows\n');
  printLines(lines, { file: join(root, 'bench', 'figures.md'), origin: origin() });
  if (failed.length > 0) console.log(`without ${failed.join(', ')}, which failed (see above)`);
}

/** Returns the commit, date and machine of the figures. */
function origin() {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  const processor = cpus()[0]?.model ?? 'unknown processor';
  const kind = isQuick ? 'A quick run' : 'A whole run';
  const date = new Date().toISOString().slice(0, 10);
  return `${kind} on ${date} at commit ${commit}: ${availableParallelism()} cores of ${processor}, Node.js ${process.versions.node}.`;
}

const unknownArgs = args.filter((arg) => ![...ALL_BENCHMARKS, ...QUICK_BENCHMARKS, '--quick'].includes(arg));
if (name === 'whole' && unknownArgs.length > 0) {
  console.error(`'whole' does not know ${unknownArgs.join(' ')}. Usage: node bench/run.mjs whole [--quick]`);
  process.exitCode = 2;
} else if (name === 'whole') await runAll();
else if (/^[a-z-]+$/.test(name) && existsSync(join(root, 'bench', `${name}.ts`))) {
  process.exitCode = await run(name, args);
} else {
  console.error(
    `There is no benchmark '${name}'. Usage: node bench/run.mjs NAME, where NAME is whole or a file bench/NAME.ts.`,
  );
  process.exitCode = 2;
}
