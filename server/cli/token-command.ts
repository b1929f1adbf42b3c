import type { AnswerOf } from '../api/routes/route.ts';
import { tokenRoutes } from '../api/routes/security.ts';
import { accessRoutes } from '../api/routes/window.ts';
import { defineCommand, flag, text, textOr } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';

interface SignIn {
  username: string;
  password: string;
}

export const tokenCommand = defineCommand({
  name: 'token',
  description: 'print an access token for the API key, or for a user with --user',
  options: {
    user: text('--user <NAME>', 'name of the user'),
    password: text('--password <TEXT>', 'password of the user (TERRARIUM_PASSWORD; default: the random password)'),
    showPassword: flag('--show-password', 'print the random password of the user instead'),
    org: textOr('--org <FQON>', 'organization to sign in at', 'root'),
    ...platformOptions,
  },
  async ask(client, { options, terminal }) {
    const { user: username, password = terminal.env.TERRARIUM_PASSWORD } = options;
    if (options.showPassword) {
      const found = await randomPassword(client, username ?? 'root');
      return { answer: found, lines: [found.password] };
    }
    const user =
      username === undefined ? undefined : password ? { username, password } : await randomPassword(client, username);
    const token = await issueToken(client, options.org, user);
    return { answer: token, lines: [token.access_token] };
  },
});

/** Requires the API key of root. */
async function randomPassword(client: PlatformClient, username: string): Promise<SignIn> {
  const passwords = await client.ask(accessRoutes.listPasswords);
  const found = passwords.find(({ user }) => user.name === username);
  if (found) return { username, password: found.password };
  throw new ExitWith(
    NO,
    `user '${username}' has no random password: there is no such user, or the password was changed or came with a seed or an archive. Set --password or TERRARIUM_PASSWORD.`,
  );
}

/** An access token of a user, or else of the client's key pair. */
export function issueToken(
  client: PlatformClient,
  fqon: string,
  user?: SignIn,
): Promise<AnswerOf<typeof tokenRoutes.issueToken>> {
  const grant = user ? { grant_type: 'password', ...user } : { grant_type: 'client_credentials' };
  const body = { type: 'application/x-www-form-urlencoded', content: new URLSearchParams(grant).toString() };
  return client.ask(tokenRoutes.issueToken, { path: { fqon }, body });
}
