import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import type { accessRows, windowRows } from '../../../../server/contract/window.ts';
import { load } from '../../api/client.ts';
import { keys as topics } from '../../api/query-client.ts';

type KeysAndTokens = AnswerOf<typeof accessRows.listKeysAndTokens>;
export type KnownKey = KeysAndTokens['keys'][number];
export type KnownToken = KeysAndTokens['tokens'][number];
/** Who is signed in at this window. */
export type SessionUser = AnswerOf<typeof windowRows.readSession>['user'];

/** Keys and tokens, newest first. No event tells of them, so they are read when one looks, and again when one asks. */
export function useKeysAndTokens() {
  return useQuery({
    queryKey: [topics.world, 'keys and tokens'],
    queryFn: ({ signal }) => load('/inspect/access', {}, signal),
    staleTime: 0,
  });
}

/** Who one is. */
export function useSessionUser(): SessionUser | undefined {
  return useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => load('/inspect/session', {}, signal),
  }).data?.user;
}
