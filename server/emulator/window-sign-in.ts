import type { SignIn } from '../inspector/window-sessions.ts';
import { PlatformError } from '../model/errors.ts';
import { owningOrganization } from '../model/hierarchy.ts';
import type { WorldView } from '../model/world-view.ts';
import { isDisabled } from '../security/accounts.ts';
import type { AttemptLimiter } from '../security/attempt-limiter.ts';
import type { Credentials } from '../security/credentials.ts';
import { verifyPassword } from '../security/passwords.ts';

/** How the window's sessions come by an account and its token: by the rules of the security service. */
export function windowSignIn(view: WorldView, credentials: Credentials, attempts: AttemptLimiter): SignIn {
  return {
    owner: () => view.root.owner,
    async byPassword(username, password) {
      if (!attempts.admit(username))
        throw new PlatformError(429, 'too many attempts for this user; try again in a minute');
      const [user] = view.named('users', username);
      const stored = user?.properties.password;
      // Also without such a user: how long the answer takes tells nobody who exists.
      const isRight = await verifyPassword(password, typeof stored === 'string' ? stored : undefined);
      return user && isRight && !isDisabled(user) ? user.id : undefined;
    },
    tokenFor(userId) {
      const user = view.find(userId);
      if (!user) throw new PlatformError(401, 'the account is gone');
      return credentials.issueToken(userId, owningOrganization(view, user).id);
    },
    endToken: (token) => credentials.revokeToken(token),
  };
}
