import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { type Config, IN_MEMORY } from '../config-schema.ts';
import { readKept, writeSecret } from '../machine/kept-file.ts';

const TOKEN_FILE = 'scm-token.json';
const TOKEN_BYTES = 24;
const tokenSchema = z.object({ token: z.string().min(1) });

/** The access token of the source-control stand-in: what is configured, or one of this data folder's own (D-200). */
export async function settleScmToken(config: Pick<Config, 'scmToken' | 'data'>): Promise<string> {
  if (config.scmToken !== undefined) return config.scmToken;
  const file = config.data === IN_MEMORY ? undefined : path.join(config.data, TOKEN_FILE);
  const kept = file === undefined ? undefined : await readKept(file, tokenSchema);
  if (kept) return kept.token;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  if (file !== undefined) await writeSecret(file, { token });
  return token;
}
