// Every row that there is a goal for, in one table at the end: one file of this folder after another, because each wants the machine for
// itself. What one of them needs and is not there (a container engine, a browser) leaves out its rows, and is said.
//
//   node bench/run.mjs whole [floors | NAME ...]      `floors`: what needs no others, in half a minute
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Line, printLines } from './speed/goals.ts';

const RUN = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bench', 'run.mjs');
/** What `writes` and `cold` print beyond these has no goal of its own. */
const NAMES = ['speed', 'control-plane', 'stalls', 'containers', 'window', 'records memory'];

const asked = process.argv.slice(2);
const isShort = asked.includes('floors');
const names = isShort ? ['speed'] : asked.length > 0 ? asked : NAMES;
const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
const lines: Line[] = [];
const missing: string[] = [];
for (const name of names) {
  console.log(`\n== ${name}\n`);
  const file = join(folder, name);
  const [bench = '', ...args] = name.split(' ');
  const { status } = spawnSync(process.execPath, [RUN, bench, ...args, ...(isShort ? ['floors'] : [])], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_LINES: file },
  });
  if (status !== 0) missing.push(name);
  if (existsSync(file)) lines.push(...JSON.parse(readFileSync(file, 'utf8')));
}
rmSync(folder, { recursive: true });
if (!isShort) {
  console.log('\n== all rows\n');
  printLines(lines);
}
if (missing.length > 0) console.log(`without ${missing.join(', ')}, which could not be measured here (see above)`);
