import path from 'node:path';
import { z } from 'zod';
import { type Config, DEFAULT_ROOT_PASSWORD, IN_MEMORY } from '../config-schema.ts';
import type { RootCredentials } from '../library/api.ts';
import { readKept, writeSecret } from '../machine/kept-file.ts';
import type { WorldView } from '../model/world-view.ts';
import { rootAct } from '../resources/act.ts';
import type { ResourceService } from '../resources/resource-service.ts';
import type { Credentials } from '../security/credentials.ts';
import { verifyPassword } from '../security/passwords.ts';

/**
 * Puts root's configured password and key pair in force. A password that was never configured is only shown as long as
 * it is the one in force; a generated pair is kept in the data folder and stays the same at the next start.
 */
export async function settleRootAccount(
  service: ResourceService,
  credentials: Credentials,
  config: Config,
): Promise<RootCredentials> {
  const password = await settlePassword(service, config.rootPassword);
  return {
    username: 'root',
    ...(password !== undefined && { password }),
    ...(await settleKey(service.view, credentials, config)),
  };
}

async function settlePassword(service: ResourceService, wanted: string): Promise<string | undefined> {
  const { view } = service;
  const stored = view.find(view.root.owner)?.properties.password;
  const isInForce = typeof stored === 'string' && (await verifyPassword(wanted, stored));
  if (wanted === DEFAULT_ROOT_PASSWORD) return isInForce ? wanted : undefined;
  if (!isInForce) {
    await service.patch(rootAct(view.root, 'startup'), view.root.owner, [
      { op: 'replace', path: '/properties/password', value: wanted },
    ]);
  }
  return undefined;
}

async function settleKey(view: WorldView, credentials: Credentials, config: Config) {
  const { rootApiKey, rootApiSecret } = config;
  const isConfigured = rootApiKey !== undefined && rootApiSecret !== undefined;
  const file = config.data === IN_MEMORY ? undefined : path.join(config.data, KEY_FILE);
  const kept = file === undefined ? undefined : await readKept(file, pairSchema);
  const given = isConfigured ? { key: rootApiKey, secret: rootApiSecret } : (kept ?? {});
  const pair = await credentials.ensureRootKey({ userId: view.root.owner, orgId: view.root.id }, given);
  if (isConfigured) return { apiKey: pair.key, generated: false };
  if (file && !kept) await writeSecret(file, { key: pair.key, secret: pair.secret });
  return { apiKey: pair.key, apiSecret: pair.secret, ...(file && { apiSecretFile: file }), generated: true };
}

const KEY_FILE = 'root-api-key.json';
const pairSchema = z.object({ key: z.string().min(1), secret: z.string().min(1) });
