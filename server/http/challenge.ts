import type { Caller, Identification } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';

/** What `error_description` says of credentials that prove nothing (D-181). */
const DESCRIPTIONS = {
  wrong: 'the credentials are wrong',
  ended: 'the credentials have been ended',
  expired: 'the token has expired',
} as const;

/** The caller of a request; throws the 401 of D-181. @param issueUrl where a token can be had */
export function requireCaller(who: Identification, issueUrl: string): Caller {
  if (who.kind === 'caller') return who.caller;
  throw unauthenticated(bearerChallenge(who, issueUrl));
}

/** The Bearer challenge, which tells whoever sent credentials what is the matter with them. */
export function bearerChallenge(who: Identification, issueUrl: string): string {
  const fault =
    who.kind === 'invalid' ? `, error="invalid_token", error_description="${DESCRIPTIONS[who.reason ?? 'wrong']}"` : '';
  return `Bearer realm="${issueUrl}"${fault}`;
}

/** 401 with one or more challenges. */
export function unauthenticated(challenge: string): PlatformError {
  return new PlatformError(401, 'Authentication required', { headers: { 'WWW-Authenticate': challenge } });
}
