import type { Caller, Identification } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';

/** What `error_description` says of credentials that prove nothing (D-181). */
const DESCRIPTIONS = {
  wrong: 'the credentials are wrong',
  ended: 'the credentials have been ended',
  expired: 'the token has expired',
} as const;

/** What is asked of whoever makes a request. */
interface Demanded {
  /** `{security_url}` as this client reaches it: where a token can be had. */
  securityUrl: string;
  /** The organization that it can be had at. */
  fqon?: string;
  /** The one way that is good enough; any unless given. */
  takes?: 'bearer' | 'basic';
  /** Where key pairs are told of as well. */
  basicRealm?: string;
}

/** The caller of a request; throws the 401 of D-181, which tells whoever sent credentials what is the matter with them. */
export function authenticate(who: Identification, { securityUrl, fqon = 'root', takes, basicRealm }: Demanded): Caller {
  const isTaken = (caller: Caller) => takes === undefined || (takes === 'basic') === (caller.scheme === 'basic');
  if (who.kind === 'caller' && isTaken(who.caller)) return who.caller;
  const fault =
    who.kind === 'invalid' ? `, error="invalid_token", error_description="${DESCRIPTIONS[who.reason ?? 'wrong']}"` : '';
  const challenges = [
    ...(takes === 'basic' ? [] : [`Bearer realm="${securityUrl}/${fqon}/oauth/issue"${fault}`]),
    ...(basicRealm === undefined ? [] : [`Basic realm="${basicRealm}"`]),
  ];
  throw new PlatformError(401, 'Authentication required', { headers: { 'WWW-Authenticate': challenges.join(', ') } });
}
