import type { FaultView, PlatformPulse } from '../../api/routes/window.ts';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { timeOf } from '../../model/iso-time.ts';
import { toTargetView } from './shown-body.ts';

/** Period that the counts cover. */
const MINUTES = 30;
const MINUTE_MS = 60_000;
const MIN_FAULT_STATUS = 500;

interface Activity {
  /** Counts by minute since 1970; only the last MINUTES of them. */
  perMinute: Map<number, number>;
  total: number;
  lastFault: FaultView | undefined;
}

/** Counts what happens at each service in each of the last minutes. Costs the same however much happens. */
export class ActivityMeter {
  readonly #nowMs: () => number;
  readonly #services = new Map<string, Activity>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A request was answered, or something else happened, now. */
  increment(service: string, fault?: Omit<FaultView, 'at'>): void {
    const atMs = this.#nowMs();
    const activity = this.#activityOf(service);
    const minute = Math.floor(atMs / MINUTE_MS);
    if (!activity.perMinute.has(minute)) {
      for (const old of activity.perMinute.keys()) if (old <= minute - MINUTES) activity.perMinute.delete(old);
    }
    activity.perMinute.set(minute, (activity.perMinute.get(minute) ?? 0) + 1);
    activity.total += 1;
    if (fault) activity.lastFault = { at: timeOf(atMs), ...fault };
  }

  /** A recorded request; `seq` returns its place. Requests to neither the API nor a public endpoint are not counted. */
  sawExchange({ plane, method, target, status, executionId }: ExchangeRecord, seq: () => number): void {
    const service = plane === 'gateway' ? plane : serviceAt(target);
    if (!service) return;
    // Counts only faults of the platform and of its workloads: a rejected request is the client's mistake.
    const isFault = status === undefined || status >= MIN_FAULT_STATUS;
    const fault = isFault ? { method, target: toTargetView(target), status, seq: seq(), executionId } : undefined;
    this.increment(service, fault);
  }

  /** Returns the activity of each named service minute by minute; the current minute is last. */
  pulseOf(names: readonly string[]): PlatformPulse {
    const minute = Math.floor(this.#nowMs() / MINUTE_MS);
    const services = names.map((service) => {
      const { perMinute, total, lastFault } = this.#activityOf(service);
      const counts = Array.from({ length: MINUTES }, (_, at) => perMinute.get(minute - MINUTES + 1 + at) ?? 0);
      return [service, { perMinute: counts, total, ...(lastFault && { lastFault }) }] as const;
    });
    return { minutes: MINUTES, services: Object.fromEntries(services) };
  }

  #activityOf(service: string): Activity {
    const activity = this.#services.get(service);
    if (activity) return activity;
    const newActivity: Activity = { perMinute: new Map(), total: 0, lastFault: undefined };
    this.#services.set(service, newActivity);
    return newActivity;
  }
}

function serviceAt(target: string): 'resources' | 'security' | undefined {
  if (/^\/meta([/?]|$)/.test(target)) return 'resources';
  return /^\/security([/?]|$)/.test(target) ? 'security' : undefined;
}
