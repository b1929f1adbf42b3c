import { z } from 'zod';
import { named } from './named.ts';
import { apiKey, count, id, time } from './parts.ts';
import { may } from './right.ts';
import { gone, json, made, ok, ownBody, rowsOf, stream } from './row.ts';

const key = z
  .string()
  .min(32)
  .max(200)
  .optional()
  .describe('What the cookie is bound to: with it the header `X-Terrarium-Session-Key` has to come along');
const sessionRequest = named(
  'SessionRequest',
  z.union([
    z.strictObject({ code: z.string().min(1).max(200), key }),
    z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1024), key }),
  ]),
);
const who = z.object({ id, name: z.string(), isRoot: z.boolean() });
const session = named(
  'Session',
  z.object({ user: who, eyes: who.optional().describe('With whose eyes root looks just now, and changes nothing') }),
);

const platformStatus = named(
  'PlatformStatus',
  z.object({
    version: z.string(),
    addresses: z.object({
      baseUrl: z.string(),
      metaUrl: z.string(),
      securityUrl: z.string(),
      gatewayUrl: z.string(),
      crmUrl: z.string().optional(),
      scmUrl: z.string().optional(),
    }),
    dataDir: z
      .string()
      .optional()
      .describe('The folder that keeps the world, or `:memory:`; for whoever may look at the whole platform'),
    store: z.object({
      seq: z.int(),
      resources: z.int().optional(),
      isHealthy: z.boolean(),
      message: z.string().optional(),
    }),
    engines: z.array(
      z.object({
        address: z.string(),
        state: z.string(),
        version: z.string().optional(),
        reason: z.string().optional(),
        providers: z.array(z.string()),
      }),
    ),
    processes: z
      .object({ processes: z.int(), spares: z.int(), running: z.int(), waiting: z.int() })
      .describe('Child processes of lambdas'),
    viewers: z.int(),
    services: z.record(z.string(), z.string()).describe('What each service says of itself'),
  }),
);
export type PlatformStatus = z.output<typeof platformStatus>;

const pulseFault = z.object({
  at: time,
  method: z.string(),
  target: z.string(),
  status: z.int().optional().describe('Absent when the client went away before an answer'),
  seq: z.int().optional().describe('Place of the request among those recorded'),
  executionId: z.string().optional(),
});
export type ShownFault = z.output<typeof pulseFault>;

const platformPulse = named(
  'PlatformPulse',
  z.object({
    minutes: z.int(),
    services: z.record(
      z.string(),
      z.object({
        perMinute: z.array(z.int()).describe('The oldest first'),
        total: z.int().describe('Since the platform started'),
        lastFault: pulseFault.optional(),
      }),
    ),
  }),
);
export type PlatformPulse = z.output<typeof platformPulse>;

const endpointUse = named(
  'EndpointUse',
  z.object({
    id,
    total: z.int().describe('Requests since the platform started'),
    last: z.object({ at: time, status: z.int().optional() }).optional(),
    limit: z
      .object({ perMinute: z.int(), used: z.int(), endsAt: time.optional() })
      .optional()
      .describe('Of the window that is open now'),
  }),
);
export type EndpointUse = z.output<typeof endpointUse>;

/** How the window signs in and what it is told. */
export const windowRows = rowsOf('Window', {
  beginSession: {
    route: 'post /inspect/session',
    summary: 'Sign the window in',
    description:
      'The session is a cookie that scripts cannot read. Changes are taken from pages of this very address only. Browsers send ' +
      'the cookie to other ports of the same name, too: a page binds it to a key of its own, and sends both.',
    right: 'none',
    body: ownBody(sessionRequest),
    answer: ok(z.object({ user: z.object({ id }) })),
    errors: [401, 403, 429],
    isPrivate: true,
  },
  readSession: {
    route: 'get /inspect/session',
    summary: 'Who is signed in',
    right: 'caller',
    answer: ok(session),
    isPrivate: true,
  },
  lookAs: {
    route: 'put /inspect/session/eyes',
    summary: 'See the window as somebody else does',
    description:
      'For the root user, in a session of the window: until it is taken back all is answered as to that user, and nothing can be changed.',
    right: 'root',
    body: json(
      named('EyesRequest', z.strictObject({ userId: id.nullable().describe('null: with your own eyes again') })),
    ),
    answer: ok(session),
    errors: [404],
    isPrivate: true,
  },
  endSession: { route: 'delete /inspect/session', summary: 'Sign out', right: 'none', answer: gone },
  createSessionCode: {
    route: 'post /inspect/session/codes',
    summary: 'A code to sign in with once',
    description: 'For the root user. Good for ten minutes.',
    right: 'root',
    answer: made(
      named(
        'SessionCode',
        z.object({ code: z.string(), url: z.url().describe('Address of the window that signs in with it') }),
      ),
    ),
    isPrivate: true,
  },
  readStatus: {
    route: 'get /inspect/status',
    summary: 'How the platform is',
    right: 'caller',
    answer: ok(platformStatus),
  },
  readPulse: {
    route: 'get /inspect/pulse',
    summary: 'What happens at each service, minute by minute',
    description: 'Counted since the platform started; what a window reads for itself is left out.',
    right: 'caller',
    answer: ok(platformPulse),
  },
  readEndpointUse: {
    route: 'get /inspect/endpoints',
    summary: 'What has come to public endpoints, and how much of their limits is used',
    description: 'Those that have a limit or had a request.',
    right: 'caller',
    answer: ok(z.array(endpointUse)),
  },
  followEvents: {
    route: 'get /inspect/events',
    summary: 'What happens, as it happens',
    description:
      'Server-sent events, named for what has changed: world, history, invocations, traffic, leads, outbound, logs, containers, ' +
      'pipelines, status; `reset` when what came after `Last-Event-ID` is no longer known.',
    right: 'caller',
    answer: stream(z.string(), 'text/event-stream'),
  },
});

const amount = {
  items: count.optional(),
  maxItems: count.optional(),
  sizeBytes: count.optional(),
  maxBytes: count.optional(),
};
const stored = z.object({ part: z.string(), files: count.optional(), ...amount });
const setting = z.object({
  key: z.string().meta({ examples: ['limits.logLines'] }),
  value: z.unknown().describe('null when it is not set; `****` stands for secrets'),
  source: z.enum(['default', 'file', 'environment', 'flag', 'option']),
  origin: z.string().describe('The flag, the variable or the file'),
  description: z.string(),
  flag: z.string(),
  env: z.string(),
  isSecret: z.boolean(),
});
export type ShownSetting = z.output<typeof setting>;
export type StoredAmount = z.output<typeof stored>;

/** How the platform was set up. */
export const settingsRows = rowsOf('Window', {
  readSettings: {
    route: 'get /inspect/settings',
    summary: 'How the platform was set up, and how much it keeps',
    description: 'For the root user. Each setting with where its value came from; each part with its size and its cap.',
    right: 'root',
    answer: ok(
      named(
        'PlatformSettings',
        z.object({
          settings: z.array(setting),
          addresses: z.record(z.string(), z.string()),
          folder: z.string().optional().describe('The data folder; absent when all is kept in memory'),
          stored: z.array(stored),
          memory: z.array(z.object({ part: z.string(), ...amount })),
          isCut: z.boolean().describe('There are more files than were looked at: sizes are at least what they say'),
        }),
      ),
    ),
    isPrivate: true,
  },
});

const user = z.object({ id, name: z.string() });
const lastUsed = time.optional().describe('Since the platform was started; absent when it was not');
const knownKey = z.object({
  id: z.string().describe('The key; its secret is not known to anybody'),
  user,
  created: time,
  lastUsed,
  isDisabled: z.boolean(),
  isFirst: z.boolean().describe("root's first key, which every start puts in force"),
});
const token = z.object({
  id: z.string().describe('SHA-256 of the token, which cannot be used in its place'),
  user,
  created: time,
  expires: time,
  lastUsed,
  isOwn: z.boolean().describe('The one that this very request came with'),
});

const keyRequest = json(
  named(
    'KeyRequest',
    z.strictObject({
      userId: id,
      orgId: id.optional().describe('The organization it is for; that of the account unless given'),
    }),
  ),
);

/** Keys and tokens, never what proves them; and new ones for those who are signed in without one. */
export const accessRows = rowsOf('Window', {
  listKeysAndTokens: {
    route: 'get /inspect/access',
    summary: 'API keys and tokens, newest first',
    description:
      'All of them for the root user, their own for everybody else. A key is ended by `DELETE /security/apiKeys/{api_key}`.',
    right: 'caller',
    answer: ok(
      named(
        'KeysAndTokens',
        z.object({
          keys: z.array(knownKey),
          tokens: z.array(token),
          total: z.object({ keys: count, tokens: count }).describe('Of each the newest 1000 are listed'),
        }),
      ),
    ),
    isPrivate: true,
  },
  endToken: {
    route: 'delete /inspect/access/tokens/{token_id}',
    summary: 'End a token',
    description: 'By the id that the list names it with. Whoever works with it has to sign in again.',
    right: 'caller',
    answer: gone,
    errors: [404],
  },
  makeApiKey: {
    route: 'post /inspect/access/keys',
    summary: 'A key pair for an account',
    description:
      'As `POST /security/accounts/{id}/apiKeys`, but any way to authenticate is good enough. The secret is in this answer only.',
    right: may('user.update', 'userId'),
    body: keyRequest,
    answer: made(apiKey),
    errors: [404],
    isPrivate: true,
  },
  makeToken: {
    route: 'post /inspect/access/tokens',
    summary: 'An access token for an account',
    description: 'As `POST /security/{fqon}/oauth/issue`, without a password. The token is in this answer only.',
    right: may('user.update', 'userId'),
    body: keyRequest,
    answer: made(named('NewToken', z.object({ accessToken: z.string(), accountId: id, expiresInS: z.int().min(1) }))),
    errors: [404, 409],
    isPrivate: true,
  },
});
