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

export type BenchmarkRequest = Omit<Load, 'durationMs' | 'connections'>;

/**
 * The measurements of one turn. `cpuUs` is the processor time per request of the server and its child processes,
 * `ownUs` that of the server alone, in microseconds.
 */
export interface Round extends Loaded {
  cpuUs: number;
  ownUs: number;
}

/** A server, the request it is sent, and the result of each turn. */
export interface Subject {
  name: string;
  child: ChildProcess;
  request: BenchmarkRequest;
  rounds: Round[];
}

/** A running benchmark with its temporary folder, the process that sends requests, and everything that ends with it. */
export class Benchmark {
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
  async load(load: Load): Promise<Loaded> {
    this.#loader.send(load);
    const [loaded] = await once(this.#loader, 'message');
    return loaded;
  }

  /** Measures all subjects in turns, so that a busy moment of the machine affects all alike. The first round warms up. */
  async measure(
    subjects: readonly Subject[],
    { rounds = ROUNDS, roundMs = ROUND_MS, connections = CONNECTIONS, warmUpMs = ROUND_MS } = {},
  ): Promise<void> {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, child, request, rounds: subjectRounds } of subjects) {
        const [beforeMs, ownBeforeMs] = [processorMs(child.pid) ?? Number.NaN, ownProcessorMs(child.pid)];
        const loaded = await this.load({ ...request, connections, durationMs: round === 0 ? warmUpMs : roundMs });
        const tookMs = (processorMs(child.pid) ?? Number.NaN) - beforeMs;
        const ownMs = ownProcessorMs(child.pid) - ownBeforeMs;
        if (loaded.refused > 0)
          throw new Error(`${name}: ${loaded.refused} of ${request.method} ${request.path} refused`);
        const requests = loaded.perSecond * (roundMs / 1000);
        if (round > 0)
          subjectRounds.push({ ...loaded, cpuUs: (tookMs * 1000) / requests, ownUs: (ownMs * 1000) / requests });
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
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

export function medianOf({ rounds }: Subject, figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]));
}

/** Runs a benchmark, or the role in which it has started itself, and prints the lines that it returns. */
export async function runBench(
  main: (benchmark: Benchmark, args: readonly string[]) => Promise<Line[]>,
  roles: Record<string, (...args: string[]) => unknown> = {},
): Promise<void> {
  const [role = '', ...args] = process.argv.slice(2);
  const allRoles: typeof roles = {
    load: () => {
      process.on('message', (load) => void putLoad(load as Load).then((loaded) => process.send?.(loaded))); // our own requests
      process.on('disconnect', () => process.exit());
    },
    baseline: (kind = '', folder = '') => runBaseline(kind as Baseline, SELF, folder), // startBaseline passes one of them
    'pool-child': runPoolChild,
    ...roles,
  };
  // Only a child process has a role: `load` is also an argument of a benchmark.
  const start = process.send && allRoles[role];
  if (start) return void (await start(...args));
  const benchmark = new Benchmark();
  try {
    const lines = await main(benchmark, [role, ...args]);
    if (lines.length > 0) printLines(lines);
  } finally {
    await benchmark.end();
  }
}
