import { basic, bearer, type Reply, send } from './checked-client.ts';
import type { Platform } from './platform.ts';

/** An account with its credentials. Its password is `secret`. */
export interface Account {
  id: string;
  token: string;
  /** The key of its key pair. */
  key: string;
  /** Authorization header with the token. */
  bearer: string;
  /** Authorization header with the key pair. */
  basic: string;
}

/** Root's key pair as an Authorization header. */
export function rootPairOf({ emulator }: Platform): string {
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  return basic(apiKey, apiSecret);
}

/** Gets a token by password. */
export function logIn({ emulator }: Platform, fqon: string, username: string, password?: string): Promise<Reply> {
  const usual = username === 'root' ? emulator.rootCredentials.password : 'secret';
  const form = new URLSearchParams({ grant_type: 'password', username, password: password ?? usual ?? '' });
  return send('POST', `${emulator.securityUrl}/${fqon}/oauth/issue`, { body: form });
}

/**
 * Creates a user without permissions, with a token and a key pair.
 *
 * @param at path of its organization
 */
export async function makeAccount(platform: Platform, name: string, at = '/root'): Promise<Account> {
  const { root, emulator } = platform;
  const { id } = await root.create(`${at}/users`, { name, properties: { password: 'secret' } });
  const { access_token: token } = (await logIn(platform, at.slice(1), name)).body;
  const { body: pair } = await send('POST', `${emulator.securityUrl}/accounts/${id}/apiKeys`, {
    auth: rootPairOf(platform),
    body: { orgId: (await root.get(at)).body.id },
  });
  return { id, token, key: pair.apiKey, bearer: bearer(token), basic: basic(pair.apiKey, pair.apiSecret) };
}
