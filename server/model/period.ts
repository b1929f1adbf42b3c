import { Cron } from 'croner';
import { z } from 'zod';
import type { Json } from './json.ts';

/** When a lambda runs by the clock, and what it is given then (D-056). */
export interface Period {
  /** Five fields, or six with seconds first; in UTC unless `timezone` names another zone. */
  cron?: string;
  timezone?: string;
  intervalMs?: number;
  payload?: Json;
}

const MAX_INTERVAL_S = 366 * 24 * 60 * 60;

function cronOf(cron: string, timezone = 'UTC'): Cron {
  return new Cron(cron, { paused: true, timezone });
}

/** Schema of a lambda's `periodic_info`; other members are kept. */
export const periodicInfo = z
  .looseObject({
    cron: z.string().optional().describe('E.g. */5 * * * *, in UTC unless timezone is given'),
    timezone: z.string().optional().describe('Of cron, e.g. Europe/Berlin'),
    interval_seconds: z.number().gt(0).max(MAX_INTERVAL_S).optional(),
    payload: z.unknown().optional().describe('The event of each run'),
  })
  .superRefine(({ cron, timezone, interval_seconds: interval }, context) => {
    if (cron === undefined) return;
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (interval !== undefined) refuse('interval_seconds', 'must not stand beside cron');
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

/** The period in a stored `periodic_info`; undefined when it names none. */
export function periodOf(stored: Json | undefined): Period | undefined {
  if (stored === undefined) return undefined;
  const { cron, timezone, interval_seconds: interval, payload } = periodicInfo.safeParse(stored).data ?? {};
  if (cron === undefined && interval === undefined) return undefined;
  return {
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(interval !== undefined && { intervalMs: interval * 1_000 }),
    // As: it came out of a record, which is JSON.
    ...(payload !== undefined && { payload: payload as Json }),
  };
}

/** The first time after `afterMs` at which it is due and that has not passed; undefined when there is none any more. */
export function nextRunMs({ cron, timezone, intervalMs }: Period, afterMs: number, nowMs: number): number | undefined {
  if (cron !== undefined)
    return cronOf(cron, timezone)
      .nextRun(new Date(Math.max(afterMs, nowMs)))
      ?.getTime();
  if (intervalMs === undefined) return undefined;
  const passed = Math.max(0, Math.floor((nowMs - afterMs) / intervalMs));
  return afterMs + (passed + 1) * intervalMs;
}
