import type { AnswerOf } from '../../../../server/contract/row.ts';
import type { accessRows } from '../../../../server/contract/window.ts';
import { keys as topics } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';

type KeysAndTokens = AnswerOf<typeof accessRows.listKeysAndTokens>;
export type KnownKey = KeysAndTokens['keys'][number];
export type KnownToken = KeysAndTokens['tokens'][number];

export const isToken = (one: KnownKey | KnownToken): one is KnownToken => 'expires' in one;

/** Keys and tokens, newest first. No event tells of them, so they are read when one looks, and again when one asks. */
export function useKeysAndTokens() {
  return useRead(topics.world, '/inspect/access', {}, { staleTime: 0 });
}
