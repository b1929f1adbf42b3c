import type { SignIn } from '../access/window-sessions.ts';
import { PlatformError } from '../model/errors.ts';
import { owningOrganization } from '../model/hierarchy.ts';
import type { WorldView } from '../model/world-view.ts';
import { isDisabled } from '../security/accounts.ts';
import { tooManyAttempts } from '../security/attempt-limiter.ts';
import type { Credentials } from '../security/credentials.ts';
import type { SecurityOptions } from '../security/security-desk.ts';

/** How the window's sessions come by an account and its token: by the rules of the security service. */
export function windowSignIn(
  view: WorldView,
  credentials: Credentials,
  { attempts, isPassword }: Pick<SecurityOptions, 'attempts' | 'isPassword'>,
): SignIn {
  return {
    owner: () => view.root.owner,
    async byPassword(username, password, address) {
      const attempt = attempts.begin(username, address);
      if ('waitS' in attempt) throw tooManyAttempts(attempt.waitS);
      const [user] = view.named('users', username);
      // Also without such a user: how long the answer takes tells nobody who exists.
      const isRight = await isPassword(password, user);
      if (!user || !isRight || isDisabled(user)) return undefined;
      attempt.succeeded();
      return user.id;
    },
    ...sessionTokens(view, credentials),
  };
}

/** Tokens that the platform itself uses in the name of an account. */
export function sessionTokens(view: WorldView, credentials: Credentials): Pick<SignIn, 'tokenFor' | 'endToken'> {
  return {
    async tokenFor(userId) {
      const user = view.find(userId);
      if (!user) throw new PlatformError(401, 'the account is gone');
      return credentials.issueToken(userId, owningOrganization(view, user).id);
    },
    endToken: (token) => credentials.revokeToken(token),
  };
}
