// What a lambda's first call and its next one after an edit take, beside starting Node processes that do nothing: as many of those as
// the call needs, at once. BENCH_BEFORE names the command line of another build, which takes its turns, too.
//
//   node bench/run.mjs cold [ROUNDS]
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { coldCalls, edits, median } from './speed/calls.ts';
import { PLAIN_ENV } from './speed/floors.ts';
import { type Line, printLines } from './speed/goals.ts';
import { Terrarium } from './speed/terrarium.ts';

const CLI = join(dirname(fileURLToPath(import.meta.url)), '..', 'server', 'cli.js');
const CLI_BEFORE = process.env.BENCH_BEFORE;
const ROUNDS = Number(process.argv[2] ?? 7);
const AT_ONCE = 20;

const run = promisify(execFile);

/** Milliseconds until the last of so many Node processes has started and ended. */
async function nodes(count: number): Promise<number> {
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: count }, () => run(process.execPath, ['-e', '0'], { env: PLAIN_ENV })));
  return performance.now() - beganMs;
}

type Figure = 'spare' | 'none' | 'atOnce' | 'byApi' | 'byFile';

/** What is measured, its goal in milliseconds, and what it takes at least where it takes processes. */
const FIGURES: Record<Figure, { what: string; atMost: number; nodes?: number }> = {
  spare: { what: 'cold call, a spare is ready', atMost: 12 },
  none: { what: 'cold call, none is', atMost: 45, nodes: 1 },
  atOnce: { what: `slowest of ${AT_ONCE} cold calls at once`, atMost: 120, nodes: AT_ONCE },
  byApi: { what: 'edit by API to served', atMost: 15 },
  byFile: { what: 'edit of a linked file to served', atMost: 40 },
};

interface Subject {
  name: string;
  platform: Terrarium;
  took: Record<Figure, number[]>;
}

const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
const subjects: Subject[] = [];
const floors = new Map<number, number[]>([
  [1, []],
  [AT_ONCE, []],
]);
try {
  for (const [name, cli] of [['before', CLI_BEFORE] as const, ['Terrarium', CLI] as const]) {
    if (cli === undefined) continue;
    const platform = await Terrarium.start(cli, folder);
    subjects.push({ name, platform, took: { spare: [], none: [], atOnce: [], byApi: [], byFile: [] } });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { platform, took } of subjects) {
      const now = { ...(await coldCalls(platform, 1)), ...(await edits(platform, folder, 1)) };
      for (const figure of Object.keys(FIGURES) as Figure[]) took[figure].push(now[figure]);
    }
    for (const [count, floor] of floors) floor.push(await nodes(count));
  }
  const lines: Line[] = [];
  const ours = subjects.at(-1);
  for (const figure of Object.keys(FIGURES) as Figure[]) {
    const { what, atMost, nodes: count = 0 } = FIGURES[figure];
    const line = { what, unit: 'ms', measured: median(ours?.took[figure] ?? []) };
    lines.push({ ...line, goal: { atMost } });
    for (const { name, took } of subjects.slice(0, -1))
      lines.push({ ...line, beside: { name, measured: median(took[figure]) } });
    const floor = floors.get(count);
    if (floor) lines.push({ ...line, beside: { name: `${count} x node -e 0`, measured: median(floor) } });
  }
  printLines(lines);
} finally {
  for (const { platform } of subjects) await platform.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
