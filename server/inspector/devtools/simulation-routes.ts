import type { Router } from 'express';
import { clockRoutes, faultRoutes } from '../../api/routes/faults.ts';
import type { FaultRules } from '../../api/server/fault-rules.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { invalid, PlatformError } from '../../model/errors.ts';
import { epochMsOf, timeOf } from '../../model/iso-time.ts';
import { UNIT_MS } from '../../model/log-query.ts';
import type { PlatformClock } from '../../system/clock.ts';

export function faultRouter(faults: FaultRules, guard: RouteGuard): Router {
  return mountRoutes(faultRoutes, guard, {
    listFaults: () => faults.list(),
    createFault: ({ body }) => faults.add(body),
    deleteFaults: () => ({ deleted: faults.clear() }),
    deleteFault({ path }) {
      if (!faults.remove(path.fault_id)) throw new PlatformError('not_found', `fault rule ${path.fault_id} not found`);
    },
  });
}

/** Later times have no use, and more digits than some clients read. */
const MAX_AHEAD_DAYS = 3_650;

/** @param moveClock moves the clock, and reports it to those who wait for a time */
export function clockRouter(clock: PlatformClock, moveClock: (byMs: number) => void, guard: RouteGuard): Router {
  const view = () => ({ now: timeOf(clock.nowMs()), aheadMs: clock.aheadMs });
  return mountRoutes(clockRoutes, guard, {
    readClock: view,
    advanceClock({ body: { advance } }) {
      const byMs = durationMs(advance, clock.nowMs());
      if (clock.aheadMs + byMs > MAX_AHEAD_DAYS * UNIT_MS.d) {
        const limit = `would set the clock more than ${MAX_AHEAD_DAYS} days ahead of the machine's`;
        throw invalid('/advance', `${limit}. Reset it with DELETE /inspect/clock, or advance it by less.`);
      }
      moveClock(byMs);
      return view();
    },
    resetClock: () => moveClock(-clock.aheadMs),
  });
}

function durationMs(text: string, nowMs: number): number {
  const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,3})?)([smhd])$/.exec(text) ?? [];
  // The expression allows no other unit.
  const durationMs = unit
    ? Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS])
    : epochMsOf(text) - nowMs;
  if (durationMs > 0) return durationMs;
  throw invalid(
    '/advance',
    `must be more than 0 with s, m, h or d, such as 24h, or an ISO date and time later than the clock's, which is ${timeOf(nowMs)}; the clock cannot be set back`,
  );
}
