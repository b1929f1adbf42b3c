import type { Caller, Identification } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';

/** `error_description` for invalid credentials (D-181). */
const DESCRIPTIONS = {
  wrong: 'the credentials are wrong',
  ended: 'the credentials have been revoked',
  expired: 'the token has expired',
} as const;

interface Demanded {
  /** `{security_url}` as this client sees it: where to get a token. */
  securityUrl: string;
  fqon?: string;
  /** The only accepted way to authenticate; any if not set. */
  takes?: 'bearer' | 'basic';
  basicRealm?: string;
}

/** The caller of a request. Throws the 401 of D-181, which says why credentials were refused. */
export function authenticate(who: Identification, { securityUrl, fqon = 'root', takes, basicRealm }: Demanded): Caller {
  const isTaken = (caller: Caller) => takes === undefined || (takes === 'basic') === (caller.scheme === 'basic');
  if (who.kind === 'caller' && isTaken(who.caller)) return who.caller;
  const fault =
    who.kind === 'invalid' ? `, error="invalid_token", error_description="${DESCRIPTIONS[who.reason ?? 'wrong']}"` : '';
  const challenges = [
    ...(takes === 'basic' ? [] : [`Bearer realm="${securityUrl}/${fqon}/oauth/issue"${fault}`]),
    ...(basicRealm === undefined ? [] : [`Basic realm="${basicRealm}"`]),
  ];
  throw new PlatformError('unauthenticated', 'Authentication required', {
    headers: { 'WWW-Authenticate': challenges.join(', ') },
  });
}
