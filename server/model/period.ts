import { Cron } from 'croner';
import { z } from 'zod';
import type { Json } from './json.ts';

export interface Period {
  /** Five fields, or six with seconds first; UTC unless `timezone` is set. */
  cron?: string | undefined;
  timezone?: string | undefined;
  intervalMs?: number | undefined;
  payload?: Json | undefined;
}

const MAX_INTERVAL_S = 366 * 24 * 60 * 60;

function cronOf(cron: string, timezone = 'UTC'): Cron {
  return new Cron(cron, { paused: true, timezone });
}

export const periodicInfo = z
  .looseObject({
    cron: z.string().optional().describe('For example */5 * * * *, in UTC unless timezone is set'),
    timezone: z.string().optional().describe('Time zone of cron, for example Europe/Berlin'),
    interval_seconds: z.number().gt(0).max(MAX_INTERVAL_S).optional(),
    payload: z.unknown().optional().describe('The event of each run'),
  })
  .describe('Either cron or interval_seconds; without both there are no runs')
  .superRefine(({ cron, timezone, interval_seconds: interval }, context) => {
    if (cron === undefined) return;
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (interval !== undefined) refuse('interval_seconds', 'cannot be combined with cron');
    try {
      cronOf(cron);
    } catch {
      refuse('cron', 'must be a cron expression of five or six fields, e.g. */5 * * * *');
      return;
    }
    try {
      cronOf(cron, timezone).nextRun();
    } catch {
      refuse('timezone', 'must be the name of a time zone, e.g. Europe/Berlin');
    }
  });

export function periodOf(stored: Json | undefined): Period | undefined {
  if (stored === undefined) return undefined;
  const { cron, timezone, interval_seconds: interval, payload } = periodicInfo.safeParse(stored).data ?? {};
  if (cron === undefined && interval === undefined) return undefined;
  // The payload comes from a record, which is JSON.
  return { cron, timezone, intervalMs: interval && interval * 1_000, payload: payload as Json | undefined };
}

/** The first due time after `afterMs` that has not passed; undefined if there is none. */
export function nextRunMs({ cron, timezone, intervalMs }: Period, afterMs: number, nowMs: number): number | undefined {
  if (cron !== undefined)
    return cronOf(cron, timezone)
      .nextRun(new Date(Math.max(afterMs, nowMs)))
      ?.getTime();
  if (intervalMs === undefined) return undefined;
  const passed = Math.max(0, Math.floor((nowMs - afterMs) / intervalMs));
  return afterMs + (passed + 1) * intervalMs;
}
