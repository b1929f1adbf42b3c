import { z } from 'zod';

/** What of a world that was brought in runs from now on, as answers tell it (D-215). */
export const runsSchema = z
  .array(z.looseObject({ type: z.string(), path: z.string(), reasons: z.array(z.string()) }))
  .default([]);

/** The same for people, a line each. */
export function* runLines(runs: z.output<typeof runsSchema>): Generator<string> {
  for (const { type, path, reasons } of runs) yield `runs from now on: ${type} ${path} (${reasons.join(', ')})`;
}
