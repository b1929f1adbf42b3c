import type { OutboundRule } from '../../../../server/model/outbound-rule.ts';
import { send } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import { readOptions, useRead } from '../../api/use-read.ts';

/** A rule that may not have an id yet. */
export type RuleRequest = Omit<OutboundRule, 'id'> & { id?: string };

const PATH = '/inspect/outbound';

/** The rules about outbound calls, and how to put others in their place. */
export function useOutboundRules() {
  const query = useRead(keys.outbound, PATH);
  // If another user saved first, their rules are shown and nothing is overwritten.
  const change = useChange(
    (rules: readonly RuleRequest[]) => send('PUT', PATH, { rules, revision: query.data?.revision }),
    {
      topic: keys.outbound,
      onDone: (answer) => queryClient.setQueryData(readOptions(keys.outbound, PATH).queryKey, answer),
    },
  );
  return { query, change };
}
