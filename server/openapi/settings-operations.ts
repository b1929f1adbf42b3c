import { z } from 'zod';
import { gone, type Operation, ok, ref, rowsOf } from './operation.ts';

const window = rowsOf('Window');
const time = z.iso.datetime();
const count = z.int().min(0);
const amount = {
  items: count.optional(),
  maxItems: count.optional(),
  sizeBytes: count.optional(),
  maxBytes: count.optional(),
};
const user = z.object({ id: z.uuid(), name: z.string() });
const lastUsed = time.optional().describe('Since the platform was started; absent when it was not');

/** How the platform was set up, and what opens it. */
export const settingsSchemas = {
  PlatformSettings: z.object({
    settings: z.array(
      z.object({
        key: z.string().meta({ examples: ['limits.logLines'] }),
        value: z.unknown().describe('null when it is not set; `****` stands for secrets'),
        source: z.enum(['default', 'file', 'environment', 'flag', 'option']),
        origin: z.string().describe('The flag, the variable or the file'),
        description: z.string(),
        flag: z.string(),
        env: z.string(),
        isSecret: z.boolean(),
      }),
    ),
    addresses: z.record(z.string(), z.string()),
    folder: z.string().optional().describe('The data folder; absent when all is kept in memory'),
    stored: z.array(z.object({ part: z.string(), files: count.optional(), ...amount })),
    memory: z.array(z.object({ part: z.string(), ...amount })),
    isCut: z.boolean().describe('There are more files than were looked at: sizes are at least what they say'),
  }),
  KeysAndTokens: z.object({
    keys: z.array(
      z.object({
        id: z.string().describe('The key; its secret is not known to anybody'),
        user,
        created: time,
        lastUsed,
        isDisabled: z.boolean(),
        isFirst: z.boolean().describe("root's first key, which every start puts in force"),
      }),
    ),
    tokens: z.array(
      z.object({
        id: z.string().describe('SHA-256 of the token, which cannot be used in its place'),
        user,
        created: time,
        expires: time,
        lastUsed,
        isOwn: z.boolean().describe('The one that this very request came with'),
      }),
    ),
    total: z.object({ keys: count, tokens: count }).describe('Of each the newest 1000 are listed'),
  }),
};

/** Settings, and keys and tokens. */
export const settingsOperations: readonly Operation[] = [
  window('get /inspect/settings', 'readSettings', 'How the platform was set up, and how much it keeps', {
    right: 'root',
    description: 'For the root user. Each setting with where its value came from; each part with its size and its cap.',
    success: ok(ref('PlatformSettings')),
    errors: [403],
  }),
  window('get /inspect/access', 'listKeysAndTokens', 'API keys and tokens, newest first', {
    right: 'caller',
    description:
      'All of them for the root user, their own for everybody else. A key is ended by `DELETE /security/apiKeys/{api_key}`.',
    success: ok(ref('KeysAndTokens')),
  }),
  window('delete /inspect/access/tokens/{token_id}', 'endToken', 'End a token', {
    right: 'caller',
    description: 'By the id that the list names it with. Whoever works with it has to sign in again.',
    success: gone,
    errors: [404],
  }),
];
