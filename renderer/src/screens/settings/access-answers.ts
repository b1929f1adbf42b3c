import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys as topics } from '../../api/query-client.ts';

interface Named {
  id: string;
  name: string;
}

/** An API key as one may see it: its secret is not known to anybody. */
export interface KnownKey {
  id: string;
  user: Named;
  created: string;
  /** Since the platform was started. */
  lastUsed?: string;
  isDisabled: boolean;
  /** Root's first one, which every start puts in force. */
  isFirst: boolean;
}

/** An access token as one may see it, by its hash. */
export interface KnownToken {
  id: string;
  user: Named;
  created: string;
  expires: string;
  lastUsed?: string;
  /** The one that this window works with. */
  isOwn: boolean;
}

interface KeysAndTokens {
  keys: readonly KnownKey[];
  tokens: readonly KnownToken[];
  /** Of each the newest 1000 are listed. */
  total: { keys: number; tokens: number };
}

/** Who is signed in at this window. */
export interface SessionUser {
  id: string;
  name: string;
  isRoot: boolean;
}

/** Keys and tokens, newest first. No event tells of them, so they are read when one looks, and again when one asks. */
export function useKeysAndTokens() {
  return useQuery({
    queryKey: [topics.world, 'keys and tokens'],
    queryFn: ({ signal }) => load<KeysAndTokens>('/inspect/access', {}, signal),
    staleTime: 0,
  });
}

/** Who one is. */
export function useSessionUser(): SessionUser | undefined {
  return useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => load<{ user: SessionUser }>('/inspect/session', {}, signal),
  }).data?.user;
}
