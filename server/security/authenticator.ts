import type { Authenticator, Identification } from '../model/caller.ts';
import type { WorldView } from '../model/world-view.ts';
import { callerOf, findUser, isDisabled } from './accounts.ts';
import { readAuthorization } from './authorization-header.ts';
import type { Credentials } from './credentials.ts';

/** Answers "who is this" from credentials and the present world (D-172): a deleted or disabled account proves nothing. */
export function createAuthenticator(view: WorldView, credentials: Credentials): Authenticator {
  return {
    identify(authorization): Identification {
      if (authorization === undefined) return { kind: 'none' };
      const claim = readAuthorization(authorization);
      const proof =
        claim?.scheme === 'bearer'
          ? credentials.findToken(claim.token)
          : claim && credentials.verifyKey(claim.key, claim.secret);
      const user = proof && findUser(view, proof.accountId);
      if (!claim || !user || isDisabled(user)) return { kind: 'invalid' };
      return { kind: 'caller', caller: callerOf(view, user, claim.scheme) };
    },
  };
}
