import type { AppliedSeed } from '../contract/seeds.ts';

/** What of a world that was brought in runs from now on (D-215), a line each. */
export function* runLines(runs: AppliedSeed['runs']): Generator<string> {
  for (const { type, path, reasons } of runs ?? []) yield `runs from now on: ${type} ${path} (${reasons.join(', ')})`;
}
