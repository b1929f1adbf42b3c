import type { AnswerOf } from '../../../../server/api/routes/route.ts';
import type { accessRoutes } from '../../../../server/api/routes/window.ts';
import { keys as topics } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';

type KeysAndTokens = AnswerOf<typeof accessRoutes.listKeysAndTokens>;
export type KnownKey = KeysAndTokens['keys'][number];
export type KnownToken = KeysAndTokens['tokens'][number];

export const isToken = (credential: KnownKey | KnownToken): credential is KnownToken => 'expires' in credential;

/** Keys and tokens, newest first. No event reports them, so they are read when they are shown, and on request. */
export function useKeysAndTokens() {
  return useRead(topics.world, '/inspect/access', {}, { staleTime: 0 });
}
