import type { Command } from 'commander';
import { UserError } from '../config.ts';
import type { AnswerOf } from '../contract/row.ts';
import { tokenRows } from '../contract/security.ts';
import { askPlatform, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

/** `terrarium token`: an access token, for the key pair or for a user by password (D-170, D-171). */
export function addTokenCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('token')
    .description('print an access token, of the API key unless a user is named')
    .option('--user <NAME>', 'the user that it is for')
    .option('--password <TEXT>', "the user's password (TERRARIUM_PASSWORD)")
    .option('--org <FQON>', 'organization to sign in at', 'root');
  askPlatform(command, terminal, async (client) => {
    const username = textOption(command, 'user');
    const password = textOption(command, 'password') ?? terminal.env.TERRARIUM_PASSWORD;
    if (username !== undefined && !password) throw new UserError('--user needs --password or TERRARIUM_PASSWORD');
    const user = username !== undefined && password ? { username, password } : undefined;
    const token = await issueToken(client, textOption(command, 'org') ?? 'root', user);
    return { answer: token, lines: [token.access_token] };
  });
}

/** An access token of a user, or else of the client's key pair. */
export function issueToken(
  client: PlatformClient,
  fqon: string,
  user?: { username: string; password: string },
): Promise<AnswerOf<typeof tokenRows.issueToken>> {
  const grant = user ? { grant_type: 'password', ...user } : { grant_type: 'client_credentials' };
  const body = { type: 'application/x-www-form-urlencoded', content: new URLSearchParams(grant).toString() };
  return client.ask(tokenRows.issueToken, { path: { fqon }, body });
}
