import type { ChildProcess } from 'node:child_process';
import { load, median } from './calls.ts';
import type { Load, Loaded } from './load.ts';
import { processorMs } from './memory.ts';

const ROUNDS = 5;
export const ROUND_MS = 1_000;
export const CONNECTIONS = 10;

export type Asked = Omit<Load, 'durationMs' | 'connections'>;

/** Who is asked, for what, and what came of it. */
export interface Subject {
  name: string;
  child: ChildProcess;
  asked: Asked;
  rounds: (Loaded & { cpuUs: number })[];
}

/** Asks all of them in turns, so that a busy moment meets all alike. Throws for an answer that is no 2xx. */
export async function measureInTurns(
  subjects: readonly Subject[],
  loader: ChildProcess,
  { connections = CONNECTIONS, warmUpMs = ROUND_MS } = {},
): Promise<void> {
  for (let round = 0; round <= ROUNDS; round += 1) {
    // The first round warms up.
    const durationMs = round === 0 ? warmUpMs : ROUND_MS;
    for (const { name, child, asked, rounds } of subjects) {
      const beforeMs = processorMs(child.pid) ?? Number.NaN;
      const loaded = await load(loader, { ...asked, connections, durationMs });
      const tookMs = (processorMs(child.pid) ?? Number.NaN) - beforeMs;
      if (loaded.refused > 0) throw new Error(`${name}: ${loaded.refused} of ${asked.method} ${asked.path} refused`);
      if (round > 0) rounds.push({ ...loaded, cpuUs: (tookMs * 1000) / ((loaded.perSecond * ROUND_MS) / 1000) });
    }
  }
}

/** Processor time of the whole tree for a request, or requests a second: the median of its rounds. */
export function medianOf({ rounds }: Subject, figure: 'perSecond' | 'cpuUs'): number {
  return median(rounds.map((round) => round[figure]));
}
