import path from 'node:path';
import { z } from 'zod';
import type { WorldView } from '../../model/record.ts';
import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { readSecret, writeSecret } from '../../storage/files/read-file.ts';
import type { Credentials } from '../security/credentials.ts';
import { PUBLISHED, type RandomPasswords, verifyPassword } from '../security/passwords.ts';
import { systemActor } from './actor.ts';
import type { ResourceService } from './resource-service.ts';

/** Credentials with which root signs in (D-175). */
export type RootAccount = Awaited<ReturnType<typeof ensureRootAccount>>;

interface RootSettings {
  rootPassword?: string | undefined;
  rootApiKey?: string | undefined;
  rootApiSecret?: string | undefined;
  /** The data folder; undefined when everything is in memory. */
  folder: string | undefined;
}

/** Applies root's configured password and keys. A generated key pair is stored in the data folder and stays the same at the next start. */
export async function ensureRootAccount(
  service: ResourceService,
  credentials: Credentials,
  passwords: RandomPasswords,
  config: RootSettings,
) {
  const password = await ensurePassword(service, passwords, config.rootPassword);
  return {
    username: 'root',
    ...(password !== undefined && { password }),
    ...(await ensureKey(service.view, credentials, config)),
  };
}

/** Gives a random password to each user who still has one that was published with Terrarium (D-220), and reports their names. */
export async function replacePublishedPasswords(
  service: ResourceService,
  passwords: RandomPasswords,
  { rootPassword }: Pick<RootSettings, 'rootPassword'>,
  warn: (message: string) => void,
): Promise<void> {
  const { view } = service;
  const replaced: string[] = [];
  for (const { user, password } of PUBLISHED) {
    if (user === 'root' && rootPassword !== undefined) continue;
    for (const { id, properties } of view.named('users', user)) {
      const { password: hash } = properties;
      if (typeof hash !== 'string' || (await passwords.inForce(user, hash)) !== undefined) continue;
      if (!(await verifyPassword(password, hash))) continue;
      await setPassword(service, id, await passwords.draw(user));
      replaced.push(user);
    }
  }
  if (replaced.length === 0) return;
  warn(
    `the passwords of ${replaced.join(', ')} were published with an earlier version of Terrarium. They have new random passwords now. ` +
      `To print one, run: ${SHELL_COMMAND} token --user NAME --show-password`,
  );
}

async function ensurePassword(
  service: ResourceService,
  passwords: RandomPasswords,
  configured: string | undefined,
): Promise<string | undefined> {
  const { view } = service;
  const stored = view.find(view.root.owner)?.properties.password;
  if (configured === undefined) return passwords.inForce('root', stored);
  const isInForce = typeof stored === 'string' && (await verifyPassword(configured, stored));
  if (!isInForce) await setPassword(service, view.root.owner, configured);
  return undefined;
}

function setPassword(service: ResourceService, userId: string, value: string) {
  const replace = { op: 'replace', path: '/properties/password', value } as const;
  return service.patch(systemActor(service.view.root, 'startup'), userId, [replace]);
}

async function ensureKey(view: WorldView, credentials: Credentials, config: RootSettings) {
  const { rootApiKey, rootApiSecret, folder } = config;
  const isConfigured = rootApiKey !== undefined && rootApiSecret !== undefined;
  const file = folder === undefined ? undefined : path.join(folder, KEY_FILE);
  const storedPair = file === undefined ? undefined : await readSecret(file, pairSchema);
  const chosenPair = isConfigured ? { key: rootApiKey, secret: rootApiSecret } : storedPair;
  const { key, secret } = await credentials.ensureRootKey({ userId: view.root.owner, orgId: view.root.id }, chosenPair);
  if (isConfigured) return { apiKey: key, generated: false };
  if (file && !storedPair) await writeSecret(file, { key, secret });
  return { apiKey: key, apiSecret: secret, ...(file && { apiSecretFile: file }), generated: true };
}

const KEY_FILE = 'root-api-key.json';
const pairSchema = z.object({ key: z.string().min(1), secret: z.string().min(1) });
