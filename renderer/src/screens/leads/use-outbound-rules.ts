import { useMutation, useQuery } from '@tanstack/react-query';
import type { OutboundRule } from '../../../../server/model/outbound-rule.ts';
import { load, send } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';

/** A rule that may not have an id yet. */
export type RuleWish = Omit<OutboundRule, 'id'> & { id?: string };

const KEY = [keys.outbound];

/** The rules about outbound calls, and how to put others in their place. */
export function useOutboundRules() {
  const query = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => load('/inspect/outbound', {}, signal),
  });
  const change = useMutation({
    mutationFn: (rules: readonly RuleWish[]) =>
      send('PUT', '/inspect/outbound', { rules, revision: query.data?.revision }),
    onSuccess: (answer) => queryClient.setQueryData(KEY, answer),
    // Somebody else was first: what they made of it is shown, and nothing of it was overwritten.
    onError: () => void queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return { query, change };
}
