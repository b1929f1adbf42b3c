import type { Authenticator, Identification } from '../../model/caller.ts';
import type { WorldView } from '../../model/record.ts';
import { callerOf, findUser, isDisabled } from './accounts.ts';
import { readAuthorization } from './authorization-header.ts';
import type { Credentials } from './credentials.ts';

/** Answers "who is this" from credentials and the present world (D-172): a deleted or disabled account proves nothing. */
export function createAuthenticator(view: WorldView, credentials: Credentials): Authenticator {
  return {
    identify(authorization): Identification {
      if (authorization === undefined) return { kind: 'none' };
      const claim = readAuthorization(authorization);
      if (!claim) return { kind: 'invalid', reason: 'wrong' };
      const proof =
        claim.scheme === 'bearer'
          ? credentials.readToken(claim.token)
          : (credentials.verifyKey(claim.key, claim.secret) ?? { reason: 'wrong' as const });
      if ('reason' in proof) return { kind: 'invalid', reason: proof.reason };
      const user = findUser(view, proof.accountId);
      if (!user || isDisabled(user)) return { kind: 'invalid', reason: 'ended' };
      const caller = callerOf(view, user, claim.scheme);
      if (claim.scheme === 'basic') return { kind: 'caller', caller: { ...caller, apiKey: claim.key } };
      return { kind: 'caller', caller: 'id' in proof ? { ...caller, tokenId: proof.id } : caller };
    },
  };
}
