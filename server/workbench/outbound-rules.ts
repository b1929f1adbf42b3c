import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import type { OutboundRulesRequest } from '../model/outbound-rule-schema.ts';

/** The rules as they are kept and shown. */
export interface KeptOutboundRules {
  /** Grows with every change. */
  revision: number;
  rules: OutboundRule[];
}

const KEY = 'rules';

export interface OutboundRulesOptions {
  log: KeyedLog<KeptOutboundRules>;
  newId(): Uuid;
  /** Makes other rules hold: those that held before, and those that shall now. */
  onChange(before: readonly OutboundRule[], after: readonly OutboundRule[]): Promise<void>;
}

/** What is to become of the calls that lambdas make, kept with the data. */
export class OutboundRules {
  readonly #options: OutboundRulesOptions;

  constructor(options: OutboundRulesOptions) {
    this.#options = options;
  }

  get kept(): KeptOutboundRules {
    return this.#options.log.get(KEY) ?? { revision: 0, rules: [] };
  }

  /**
   * Other rules hold from now on, for the next call of every lambda.
   *
   * @throws PlatformError 409 when they were changed since they were read; 503 when they cannot be kept
   */
  async replace({ rules, revision }: OutboundRulesRequest): Promise<KeptOutboundRules> {
    const { log, newId, onChange } = this.#options;
    const { revision: current, rules: before } = this.kept;
    if (revision !== undefined && revision !== current) {
      throw new PlatformError(409, `the rules have been changed since revision ${revision}; read them again`);
    }
    const known = new Set<string>();
    const named = rules.map(({ id: wanted, ...rule }): OutboundRule => {
      // Copied with its id: two rules of one name could not be told apart in the records of calls.
      const id = wanted === undefined || known.has(wanted) ? newId() : wanted.toLowerCase();
      known.add(id);
      return { id, ...rule };
    });
    const next = { revision: current + 1, rules: named };
    await log.put(KEY, next);
    await onChange(before, named);
    return next;
  }
}
