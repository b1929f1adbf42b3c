import { PlatformError } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { OutboundRule } from '../../model/outbound-rule.ts';
import type { OutboundRulesRequest } from '../../model/outbound-rules-request.ts';
import { newId } from '../../model/record.ts';

export interface KeptOutboundRules {
  /** Grows with every change. */
  revision: number;
  rules: OutboundRule[];
}

const KEY = 'rules';

export type OutboundRules = ReturnType<typeof outboundRulesIn>;

/**
 * The outbound rules, stored in the data folder.
 * @param onChange applies new rules; it receives the old and the new ones
 */
export function outboundRulesIn(
  log: KeyedLog<KeptOutboundRules>,
  onChange: (before: readonly OutboundRule[], after: readonly OutboundRule[]) => Promise<void>,
) {
  const readStored = (): KeptOutboundRules => log.get(KEY) ?? { revision: 0, rules: [] };
  return {
    kept: readStored,
    /**
     * Other rules hold from now on, for the next call of every lambda.
     *
     * @throws PlatformError 409 when they were changed since they were read; 503 when they cannot be kept
     */
    async replace({ rules, revision }: OutboundRulesRequest): Promise<KeptOutboundRules> {
      const { revision: current, rules: before } = readStored();
      if (revision !== undefined && revision !== current) {
        throw new PlatformError('changed_meanwhile', `the rules have changed since revision ${revision}. Reload them.`);
      }
      const usedIds = new Set<string>();
      const named = rules.map(({ id: requestedId, ...rule }): OutboundRule => {
        // Copied with its id: two rules of one name could not be distinguished in the records of calls.
        const id = requestedId === undefined || usedIds.has(requestedId) ? newId() : requestedId.toLowerCase();
        usedIds.add(id);
        return { id, ...rule };
      });
      const next = { revision: current + 1, rules: named };
      await log.put(KEY, next);
      await onChange(before, named);
      return next;
    },
  };
}
