import { PlatformError } from '../model/errors.ts';
import { newId } from '../model/ids.ts';
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

export type OutboundRules = ReturnType<typeof outboundRulesIn>;

/**
 * What is to become of the calls that lambdas make, kept with the data.
 *
 * @param onChange makes other rules hold: those that held before, and those that shall now
 */
export function outboundRulesIn(
  log: KeyedLog<KeptOutboundRules>,
  onChange: (before: readonly OutboundRule[], after: readonly OutboundRule[]) => Promise<void>,
) {
  const kept = (): KeptOutboundRules => log.get(KEY) ?? { revision: 0, rules: [] };
  return {
    kept,
    /**
     * Other rules hold from now on, for the next call of every lambda.
     *
     * @throws PlatformError 409 when they were changed since they were read; 503 when they cannot be kept
     */
    async replace({ rules, revision }: OutboundRulesRequest): Promise<KeptOutboundRules> {
      const { revision: current, rules: before } = kept();
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
    },
  };
}
