import { type Declaration, limit, log } from '../../plugin/declaration.ts';
import type { KeyRecord, TokenRecord } from './credentials.ts';
import type { KeptSession } from './window-sessions.ts';

const part = 'credentials';

export const security = {
  limits: {
    tokenLifetimeS: limit(8 * 60 * 60, 'lifetime of an access token in seconds'),
    tokenRequestsPerMinute: limit(100, 'maximum number of failed sign-in attempts per minute, user and client address'),
  },
  hasStatus: true,
  logs: {
    'api-keys': log<KeyRecord>({ part }),
    tokens: log<TokenRecord>({ part }),
    /** Sessions of the window, by the hash of their cookie. */
    'window-sessions': log<KeptSession>({ part }),
    /** Users and organizations that have or had an account, by id. */
    'past-accounts': log<{ name: string }>({
      part,
      isUncounted: true,
      caps: { maxItems: 100_000, maxBytes: 32 * 1024 * 1024 },
    }),
  },
} satisfies Declaration;
