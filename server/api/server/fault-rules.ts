import { createHash, randomInt, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorStatus } from '../../model/error-codes.ts';
import { PlatformError } from '../../model/errors.ts';
import {
  type FaultRequest,
  type FaultRule,
  type FaultService,
  isUsedUp,
  MAX_FAULT_RULES,
  MAX_SEED,
} from '../../model/fault-rule.ts';
import { matchesStars } from '../../model/matches-stars.ts';
import { reasonFor } from './answer-error.ts';

/** The header of every response to which a fault rule applied; its value is the rule's ID (D-221). */
export const FAULT_HEADER = 'X-Terrarium-Fault';

/** The error of a service that a rule ordered, with the rule's status. */
export class SimulatedError extends PlatformError {
  readonly #status: number;

  constructor(status: number, ruleId: string) {
    super(reasonFor(status), `the fault rule ${ruleId} caused this response. To get others, delete the rule.`);
    this.#status = status;
  }

  override get status(): ErrorStatus {
    return this.#status as ErrorStatus; // or another status that the rule names
  }
}

export interface Fault {
  ruleId: string;
  isCut: boolean;
  error: SimulatedError | undefined;
  /** Resolves after the rule's delay, or when the rule is deleted. */
  delayed(): Promise<void>;
}

/** True for the share of the requests that `percent` names. The choice depends only on the seed and on the number of matches. */
function isChosen({ percent, seed, matched }: FaultRule): boolean {
  if (percent === undefined) return true;
  const drawn = createHash('sha256').update(`${seed} ${matched}`).digest().readUInt32BE(0) / 2 ** 32;
  return drawn < percent / 100;
}

/** The fault rules of the platform's own services (D-221). They are kept in memory only, and change nothing that is stored. */
export class FaultRules {
  readonly #onChange: () => void;
  readonly #rules = new Map<string, { rule: FaultRule; deletion: AbortController }>();

  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  list(): FaultRule[] {
    return Array.from(this.#rules.values(), ({ rule }) => ({ ...rule }));
  }

  /** Adds a rule after the others. Throws 409 if there are too many. */
  add(request: FaultRequest): FaultRule {
    if (this.#rules.size >= MAX_FAULT_RULES) {
      throw new PlatformError(
        'limit_reached',
        `there are ${MAX_FAULT_RULES} fault rules, the maximum. Delete some first.`,
      );
    }
    const seed = request.percent === undefined ? {} : { seed: request.seed ?? randomInt(MAX_SEED) };
    const rule = { id: randomUUID(), ...request, ...seed, matched: 0, applied: 0 };
    this.#rules.set(rule.id, { rule, deletion: new AbortController() });
    this.#onChange();
    return { ...rule };
  }

  /** Deletes a rule and ends its delays. Returns false if there is none with that ID. */
  remove(id: string): boolean {
    this.#rules.get(id)?.deletion.abort();
    if (!this.#rules.delete(id)) return false;
    this.#onChange();
    return true;
  }

  clear(): number {
    return [...this.#rules.keys()].filter((id) => this.remove(id)).length;
  }

  /** Counts a request for the rules that match, up to the first one that applies, and returns its effect. */
  take(service: FaultService, method?: string, target?: string): Fault | undefined {
    if (this.#rules.size === 0) return undefined; // the usual case, for each request
    const [path = ''] = target?.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1) ?? [];
    for (const { rule, deletion } of this.#rules.values()) {
      if (rule.service !== service || (rule.method ?? method) !== method) continue;
      if (rule.path !== undefined && !matchesStars(rule.path, path)) continue;
      rule.matched += 1;
      if (rule.matched <= (rule.after ?? 0) || isUsedUp(rule) || !isChosen(rule)) continue;
      rule.applied += 1;
      this.#onChange();
      const { id: ruleId, status, delayMs, cut: isCut = false } = rule;
      return {
        ruleId,
        isCut,
        error: status === undefined ? undefined : new SimulatedError(status, ruleId),
        async delayed() {
          if (delayMs === undefined) return;
          await wait(delayMs, undefined, { signal: deletion.signal, ref: false }).catch(() => undefined);
        },
      };
    }
    return undefined;
  }

  /** The first handler of a service. The window reads in the background and would use up the rules of a test, so its requests are left alone. */
  handlerFor(service: FaultService, bodyOf: (error: SimulatedError, path: string) => object | string) {
    return async (request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> => {
      // Routers of Express remove the beginning of the path from `url`.
      const target = String(Object(request).originalUrl ?? request.url);
      const isOfWindow = request.headers['x-terrarium-client'] === 'ui';
      const fault = isOfWindow ? undefined : this.take(service, request.method, target);
      if (!fault) return next();
      response.setHeader(FAULT_HEADER, fault.ruleId);
      await fault.delayed();
      if (fault.isCut || request.socket.destroyed) return void request.socket.destroy();
      if (!fault.error) return next();
      const body = bodyOf(fault.error, target.split('?', 1)[0] ?? '');
      const type = typeof body === 'string' ? 'text/plain' : 'application/json';
      response.writeHead(fault.error.status, { 'Content-Type': `${type}; charset=utf-8` });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  }
}
