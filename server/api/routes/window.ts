import { z } from 'zod';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { apiKey, count, id, named, object, strictObject, time } from '../schemas/parts.ts';
import { containerEngine } from './containers.ts';
import { created, defineRoutes, json, noContent, ok, ownBody, permission, route, stream } from './route.ts';

const key = z
  .string()
  .min(32)
  .max(200)
  .optional()
  .describe('Key that the cookie is bound to: requests must send it in the header `X-Terrarium-Session-Key`');
const sessionRequest = named(
  'SessionRequest',
  z.union([
    z.strictObject({ code: z.string().min(1).max(200), key }),
    z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1024), key }),
  ]),
);
const identity = z.object({ id, name: z.string(), isRoot: z.boolean() });
const session = object('Session', {
  user: identity,
  viewAs: identity.optional().describe('The user root is viewing as; read-only'),
});

const platformStatus = object('PlatformStatus', {
  version: z.string(),
  addresses: z
    .object({ baseUrl: z.string(), metaUrl: z.string(), securityUrl: z.string(), gatewayUrl: z.string() })
    .catchall(z.string())
    .describe('Address of each server, by names such as `crmUrl`'),
  dataDir: z
    .string()
    .optional()
    .describe('The folder of the world, or `:memory:`; requires permission to view the entire platform'),
  store: z.object({
    seq: z.int(),
    resources: z.int().optional(),
    isHealthy: z.boolean(),
    message: z.string().optional(),
  }),
  engines: z.array(containerEngine),
  processes: z
    .object({ processes: z.int(), spares: z.int(), running: z.int(), waiting: z.int() })
    .describe('Child processes of lambdas'),
  viewers: z.int(),
  failed: z
    .array(z.string())
    .describe('Data that cannot be saved or is only kept in memory, one sentence each, as in `GET /meta/health`'),
  services: z.record(z.string(), z.string()).describe('Status of each service'),
});
export type PlatformStatus = z.output<typeof platformStatus>;

const endpointUse = object('EndpointUse', {
  id,
  total: z.int().describe('Number of recorded requests, also of earlier runs'),
  last: z.object({ at: time, status: z.int().optional() }).optional(),
  limit: z
    .object({ perMinute: z.int(), used: z.int(), endsAt: time.optional() })
    .optional()
    .describe('Rate limit window that is currently open'),
});
export type EndpointUse = z.output<typeof endpointUse>;

export const windowRoutes = defineRoutes('Window', {
  beginSession: route('post /inspect/session', 'none', {
    summary: 'Sign the window in',
    description:
      'Sets a cookie that scripts cannot read. Write requests are accepted only from pages of this address. Browsers also send the ' +
      'cookie to other ports of the same host name. To prevent misuse, the page can bind the cookie to a key and send both.',
    body: { ...ownBody(sessionRequest), example: { username: 'root', password: 'your password' } },
    answer: ok(z.object({ user: z.object({ id }) })),
    errors: [401, 429],
    isPrivate: true,
  }),
  readSession: route('get /inspect/session', 'caller', {
    summary: 'Who is signed in',
    answer: ok(session),
    isPrivate: true,
  }),
  lookAs: route('put /inspect/session/view-as', 'root', {
    summary: 'View as another user',
    description:
      'In a session of the window. Responses show what the other user sees, and the platform rejects write requests, ' +
      'until you switch back.',
    body: json(strictObject('ViewAsRequest', { userId: id.nullable().describe('null: switch back to yourself') }), {
      userId: EXAMPLE_ID,
    }),
    answer: ok(session),
    errors: [404],
    isPrivate: true,
  }),
  endSession: route('delete /inspect/session', 'none', { summary: 'Sign out', answer: noContent }),
  stopPlatform: route('post /inspect/stop', 'root', {
    summary: 'Stop the platform',
    description: 'As Ctrl+C does. From this machine only (D-219).',
    body: json(strictObject('StopRequest', { worldId: id.describe('The world of the platform that is meant') }), {
      worldId: EXAMPLE_ID,
    }),
    answer: noContent,
    errors: [409],
  }),
  createSessionCode: route('post /inspect/session/codes', 'root', {
    summary: 'Create a one-time sign-in code',
    description: 'The code is valid for ten minutes.',
    answer: created(
      object('SessionCode', {
        code: z.string(),
        url: z.url().describe('Address that opens the window and signs in with the code'),
      }),
    ),
    isPrivate: true,
  }),
  readStatus: route('get /inspect/status', 'caller', {
    summary: 'Read the status of the platform',
    answer: ok(platformStatus),
  }),
  readEndpointUse: route('get /inspect/endpoints', 'caller', {
    summary: 'Count requests per public endpoint and show rate limits',
    description: 'Lists endpoints with a rate limit or at least one recorded request.',
    answer: ok(z.array(endpointUse)),
  }),
  followEvents: route('get /inspect/events', 'caller', {
    summary: 'Stream change notifications',
    description:
      'Sends server-sent events named after what changed, such as `world`, `traffic` or `leads`. Sends `reset` if the events after ' +
      '`Last-Event-ID` are no longer known.',
    answer: stream(z.string(), 'text/event-stream'),
  }),
});

const amount = {
  items: count.optional(),
  maxItems: count.optional(),
  sizeBytes: count.optional(),
  maxBytes: count.optional(),
};
const stored = z.object({
  part: z.string(),
  folder: z.string().optional().describe('Where it is, unless that is the data folder'),
  files: count.optional(),
  ...amount,
});
const setting = z.object({
  key: z.string().meta({ examples: ['limits.logLines'] }),
  value: z.unknown().describe('null if not set; secrets are shown as `****`'),
  source: z.enum(['default', 'file', 'environment', 'flag', 'option']),
  origin: z.string().describe('The flag, variable or file that set the value'),
  description: z.string(),
  flag: z.string(),
  env: z.string(),
  isSecret: z.boolean(),
});
export type SettingView = z.output<typeof setting>;
export type StoredAmount = z.output<typeof stored>;

export const settingsRoutes = defineRoutes('Window', {
  readSettings: route('get /inspect/settings', 'root', {
    summary: 'Read the configuration and storage sizes',
    description:
      'Returns each setting with the origin of its value, and each part of the storage with its size and limit.',
    answer: ok(
      object('PlatformSettings', {
        settings: z.array(setting),
        addresses: z.record(z.string(), z.string()),
        folder: z.string().optional().describe('The data folder; absent if the data is kept in memory'),
        stored: z.array(stored),
        memory: z.array(z.object({ part: z.string(), ...amount })),
        isCut: z.boolean().describe('Not all files were counted, so the sizes are minimums'),
      }),
    ),
    isPrivate: true,
  }),
});

const user = z.object({ id, name: z.string() });
const lastUsed = time.optional().describe('Last use since the platform started; absent if not used');
const knownKey = z.object({
  id: z.string().describe('The key, without its secret'),
  user,
  created: time,
  lastUsed,
  isDisabled: z.boolean(),
  isFirst: z.boolean().describe("root's first key, which becomes valid again at every start"),
});
const token = z.object({
  id: z.string().describe('SHA-256 of the token'),
  user,
  created: time,
  expires: time,
  lastUsed,
  isOwn: z.boolean().describe('The token of this request'),
});

const keyRequest = json(
  strictObject('KeyRequest', {
    userId: id,
    orgId: id.optional().describe('Organization of the token (default: that of the account)'),
  }),
  { userId: EXAMPLE_ID },
);

/** API keys and tokens without their secrets, and creation of new ones for signed-in users without a key. */
export const accessRoutes = defineRoutes('Window', {
  listKeysAndTokens: route('get /inspect/access', 'caller', {
    summary: 'List API keys and tokens, newest first',
    description:
      'The root user sees all, other users see their own. To revoke a key, use `DELETE /security/apiKeys/{api_key}`.',
    answer: ok(
      object('KeysAndTokens', {
        keys: z.array(knownKey),
        tokens: z.array(token),
        total: z.object({ keys: count, tokens: count }).describe('Totals; at most the newest 1000 of each are listed'),
      }),
    ),
    isPrivate: true,
  }),
  listPasswords: route('get /inspect/access/passwords', 'root', {
    summary: 'List random passwords',
    description: 'Of root and of users whose seed contains no password, as long as they are in use (D-220).',
    answer: ok(z.array(object('RandomPassword', { user: z.object({ id, name: z.string() }), password: z.string() }))),
    isPrivate: true,
  }),
  endToken: route('delete /inspect/access/tokens/{token_id}', 'caller', {
    summary: 'Revoke a token',
    description: 'By the id from the list. Clients that use the token must sign in again.',
    answer: noContent,
  }),
  makeApiKey: route('post /inspect/access/keys', permission('user.update', 'userId'), {
    summary: 'Create an API key for an account',
    description:
      'Same as `POST /security/accounts/{id}/apiKeys`, but accepts all ways to authenticate. Only this response contains the secret.',
    body: keyRequest,
    answer: created(apiKey),
    errors: [404],
    isPrivate: true,
  }),
  makeToken: route('post /inspect/access/tokens', permission('user.update', 'userId'), {
    summary: 'Create an access token for an account',
    description:
      'Same as `POST /security/{fqon}/oauth/issue`, but without a password. Only this response contains the token.',
    body: keyRequest,
    answer: created(object('NewToken', { accessToken: z.string(), accountId: id, expiresInS: z.int().min(1) })),
    errors: [404, 409],
    isPrivate: true,
  }),
});
