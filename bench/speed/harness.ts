import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Baseline, runBaseline, runPoolChild, startBaseline } from './baselines.ts';
import { type Line, printLines } from './goals.ts';
import { type Load, type Loaded, putLoad } from './load.ts';
import { ownProcessorMs, processorMs } from './memory.ts';
import { Terrarium } from './terrarium.ts';

/** The benchmark that runs, as one file; it starts itself again for the processes that it needs. */
const SELF = process.argv[1] ?? '';
export const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
/** The command line of another build, to be measured in the same turns. */
export const CLI_BEFORE = process.env.BENCH_BEFORE;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const CONNECTIONS = 10;

export type Asked = Omit<Load, 'durationMs' | 'connections'>;

/** What one turn measured; `cpuUs` is the processor time of the server and all below it for a request, `ownUs` the server's own. */
export interface Round extends Loaded {
  cpuUs: number;
  ownUs: number;
}

/** A server, the request it is sent, and the result of each turn. */
export interface Subject {
  name: string;
  child: ChildProcess;
  asked: Asked;
  rounds: Round[];
}

/** What every benchmark has: a temporary folder, a process that sends requests, and what ends with it. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  readonly #loader = fork(SELF, ['load']);
  readonly #ends: (() => unknown)[] = [];

  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Starts a process of this benchmark in another role; it ends with this one. */
  fork(...args: string[]): ChildProcess {
    const child = fork(SELF, args);
    this.atEnd(() => child.connected && child.disconnect());
    return child;
  }

  async baseline(kind: Baseline): Promise<{ child: ChildProcess; port: number }> {
    const started = await startBaseline(kind, SELF, this.folder);
    this.atEnd(() => started.child.connected && started.child.disconnect());
    return started;
  }

  async platform(how: Parameters<typeof Terrarium.start>[2] = {}, cli = CLI): Promise<Terrarium> {
    const platform = await Terrarium.start(cli, this.folder, how);
    this.atEnd(() => platform.end());
    return platform;
  }

  /** Sends requests from the process that does nothing else. */
  async load(asked: Load): Promise<Loaded> {
    this.#loader.send(asked);
    const [loaded] = await once(this.#loader, 'message');
    return loaded;
  }

  /** Measures all subjects in turns, so that a busy moment of the machine affects all alike. The first round warms up. */
  async measure(
    subjects: readonly Subject[],
    { rounds = ROUNDS, roundMs = ROUND_MS, connections = CONNECTIONS, warmUpMs = ROUND_MS } = {},
  ): Promise<void> {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, child, asked, rounds: kept } of subjects) {
        const [beforeMs, ownBeforeMs] = [processorMs(child.pid) ?? Number.NaN, ownProcessorMs(child.pid)];
        const loaded = await this.load({ ...asked, connections, durationMs: round === 0 ? warmUpMs : roundMs });
        const tookMs = (processorMs(child.pid) ?? Number.NaN) - beforeMs;
        const ownMs = ownProcessorMs(child.pid) - ownBeforeMs;
        if (loaded.refused > 0) throw new Error(`${name}: ${loaded.refused} of ${asked.method} ${asked.path} refused`);
        const requests = loaded.perSecond * (roundMs / 1000);
        if (round > 0) kept.push({ ...loaded, cpuUs: (tookMs * 1000) / requests, ownUs: (ownMs * 1000) / requests });
      }
    }
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    this.#loader.disconnect();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

export function medianOf({ rounds }: Subject, figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]));
}

/** Runs a benchmark, or the role in which it has started itself, and prints the lines that it returns. */
export async function runBench(
  main: (bench: Bench, args: readonly string[]) => Promise<Line[]>,
  roles: Record<string, (...args: string[]) => unknown> = {},
): Promise<void> {
  const [role = '', ...args] = process.argv.slice(2);
  const known: typeof roles = {
    load: () => {
      process.on('message', (asked) => void putLoad(asked as Load).then((loaded) => process.send?.(loaded))); // our own requests
      process.on('disconnect', () => process.exit());
    },
    baseline: (kind = '', folder = '') => runBaseline(kind as Baseline, SELF, folder), // startBaseline passes one of them
    'pool-child': runPoolChild,
    ...roles,
  };
  // Only a child process has a role: `load` is also an argument of a benchmark.
  const start = process.send && known[role];
  if (start) return void (await start(...args));
  const bench = new Bench();
  try {
    const lines = await main(bench, [role, ...args]);
    if (lines.length > 0) printLines(lines);
  } finally {
    await bench.end();
  }
}
