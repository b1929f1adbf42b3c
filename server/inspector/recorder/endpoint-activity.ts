import type { EndpointUse } from '../../api/routes/window.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { timeIfAny, timeOf } from '../../model/iso-time.ts';
import type { Uuid } from '../../model/record.ts';

/** Maximum number of endpoints that are followed; those without a request for longest are forgotten. */
const MAX_ENDPOINTS = 10_000;

interface Activity {
  total: number;
  lastAtMs: number;
  lastStatus: number | undefined;
}

export class EndpointActivity {
  readonly #byId = new Map<Uuid, Activity>();
  #latest: Uuid | undefined;

  sawExchange({ endpointId, atMs, status }: ExchangeRecord): void {
    if (endpointId === undefined) return;
    const activity = this.#byId.get(endpointId) ?? { total: 0, lastAtMs: atMs, lastStatus: status };
    activity.total += 1;
    activity.lastAtMs = atMs;
    activity.lastStatus = status;
    if (endpointId === this.#latest) return;
    this.#latest = endpointId;
    // The latest stand last.
    this.#byId.delete(endpointId);
    this.#byId.set(endpointId, activity);
    if (this.#byId.size <= MAX_ENDPOINTS) return;
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined) this.#byId.delete(oldest);
  }

  usesOf(limits: ReturnType<Gateway['limitUses']>): EndpointUse[] {
    const uses = new Map(limits.map((use) => [use.endpointId, use]));
    return [...new Set([...uses.keys(), ...this.#byId.keys()])].map((id) => {
      const [activity, use] = [this.#byId.get(id), uses.get(id)];
      return {
        id,
        total: activity?.total ?? 0,
        last: activity && { at: timeOf(activity.lastAtMs), status: activity.lastStatus },
        limit: use && {
          perMinute: use.perMinute,
          used: use.used,
          endsAt: timeIfAny(use.endsAtMs),
        },
      };
    });
  }
}
