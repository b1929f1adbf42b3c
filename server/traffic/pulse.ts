import type { PlatformPulse, ShownFault } from '../contract/window.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import { timeOf } from '../model/iso-time.ts';
import { shownTarget } from './shown-body.ts';

/** The parts of the platform that something happens at. */
export type PulseService = 'resources' | 'security' | 'gateway' | 'containers' | 'scm';

/** How far back it is counted. */
const MINUTES = 30;
const MINUTE_MS = 60_000;
const MIN_FAULT_STATUS = 500;

interface Beats {
  /** By minutes since 1970; only the last MINUTES of them. */
  perMinute: Map<number, number>;
  total: number;
  lastFault: ShownFault | undefined;
}

/** Counts what happens at each service in each of the last minutes. Costs the same however much happens. */
export class Pulse {
  readonly #nowMs: () => number;
  readonly #services = new Map<PulseService, Beats>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A request was answered, or something else happened, now. */
  beat(service: PulseService, fault?: Omit<ShownFault, 'at'>): void {
    const atMs = this.#nowMs();
    const beats = this.#beatsOf(service);
    const minute = Math.floor(atMs / MINUTE_MS);
    if (!beats.perMinute.has(minute)) {
      for (const old of beats.perMinute.keys()) if (old <= minute - MINUTES) beats.perMinute.delete(old);
    }
    beats.perMinute.set(minute, (beats.perMinute.get(minute) ?? 0) + 1);
    beats.total += 1;
    if (fault) beats.lastFault = { at: timeOf(atMs), ...fault };
  }

  /** A recorded request; `seq` is its place. What is neither the API's nor a public endpoint's counts for nobody. */
  sawExchange({ plane, method, target, status, executionId }: ExchangeRecord, seq: number): void {
    const service = plane === 'gateway' ? plane : serviceAt(target);
    if (!service) return;
    // Only faults of the platform and of what runs in it: a client that is refused has learned what it did wrong.
    const isFault = status === undefined || status >= MIN_FAULT_STATUS;
    this.beat(service, isFault ? { method, target: shownTarget(target), status, seq, executionId } : undefined);
  }

  /** Of each service what happened minute by minute, the last one being this minute. */
  shown(): PlatformPulse {
    const minute = Math.floor(this.#nowMs() / MINUTE_MS);
    const services = (['resources', 'security', 'gateway', 'containers', 'scm'] as const).map((service) => {
      const { perMinute, total, lastFault } = this.#beatsOf(service);
      const counts = Array.from({ length: MINUTES }, (_, at) => perMinute.get(minute - MINUTES + 1 + at) ?? 0);
      return [service, { perMinute: counts, total, ...(lastFault && { lastFault }) }] as const;
    });
    return { minutes: MINUTES, services: Object.fromEntries(services) };
  }

  #beatsOf(service: PulseService): Beats {
    const known = this.#services.get(service);
    if (known) return known;
    const made: Beats = { perMinute: new Map(), total: 0, lastFault: undefined };
    this.#services.set(service, made);
    return made;
  }
}

function serviceAt(target: string): PulseService | undefined {
  if (/^\/meta([/?]|$)/.test(target)) return 'resources';
  return /^\/security([/?]|$)/.test(target) ? 'security' : undefined;
}
