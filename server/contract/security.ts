import { z } from 'zod';
import { readAccountPatch } from './account-patch.ts';
import { readFields } from './form-fields.ts';
import { health, PATCH_TYPES, patchDocument } from './forms.ts';
import { named } from './named.ts';
import { apiKey, id, time } from './parts.ts';
import { may, mayOrOwn } from './right.ts';
import { form, gone, json, made, ok, optionalJson, type Row, readJson, rowsOf } from './row.ts';

/**
 * Stands for the prefix of type names in lower case, with which some members of tokens begin (D-080, D-170, D-176); the document has
 * the configured one in its place.
 */
export const PREFIX = '{prefix}';

const epochSeconds = z.int().describe('Seconds since 1970');
const rights = z.array(z.string()).describe('Actions on the organization itself');
const namedLink = named('NamedLink', z.object({ id, name: z.string(), href: z.url() }));
const directory = named(
  'Directory',
  z.object({ id, name: z.string(), orgId: id, directoryType: z.literal('INTERNAL').optional() }),
);

const account = named(
  'Account',
  z.object({
    id,
    username: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    description: z.string().optional(),
    email: z.string().optional(),
    phoneNumber: z.string().optional(),
    directory,
  }),
);

const accountGroup = named(
  'AccountGroup',
  z.object({
    id,
    name: z.string(),
    description: z.string().optional(),
    directory,
    disabled: z.boolean(),
    accounts: z.array(namedLink),
  }),
);

const accountStore = named(
  'AccountStore',
  z.object({
    id,
    name: z.string(),
    storeType: z.literal('DIRECTORY'),
    accountStoreId: id,
    isDefaultAccountStore: z.boolean(),
    isDefaultGroupStore: z.boolean(),
  }),
);

const organization = named(
  'SecurityOrganization',
  z.object({
    id,
    name: z.string(),
    fqon: z.string(),
    description: z.string().optional(),
    parent: namedLink.optional(),
    children: z.array(namedLink),
  }),
);

const accountChange = named(
  'AccountChange',
  account
    .omit({ id: true, directory: true })
    .extend({ password: z.string().meta({ writeOnly: true }) })
    .partial()
    .describe('The members to set'),
);
const membershipPatch = named(
  'MembershipPatch',
  z.array(z.object({ op: z.enum(['add', 'remove']), path: z.literal('/accounts'), value: id.describe('An account') })),
);

/** An access token (D-170). */
const token = named(
  'Token',
  z.looseObject({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int().describe('Seconds'),
    [`${PREFIX}_access_token_href`]: z.string().optional(),
  }),
);
const tokenRequest = named(
  'TokenRequest',
  z.object({
    grant_type: z.enum(['password', 'client_credentials']),
    username: z.string().optional().describe('For the password grant'),
    password: z.string().meta({ format: 'password' }).optional().describe('For the password grant'),
  }),
);
/** What is no grant is read as well, to be refused by a code of its own (D-171). */
const anyGrant = z.object({ grant_type: z.string() });
const signIn = z.object({ username: z.string(), password: z.string() });
const tokenInspection = named(
  'TokenInspection',
  z.union([
    z.object({ active: z.literal(false) }),
    z.looseObject({
      active: z.literal(true),
      username: z.string(),
      sub: z.string(),
      iss: z.url(),
      exp: epochSeconds,
      iat: epochSeconds,
      jti: z.string(),
      [`${PREFIX}_org_id`]: id.optional(),
      [`${PREFIX}_account`]: account.optional(),
      [`${PREFIX}_groups`]: z.array(namedLink).optional(),
      [`${PREFIX}_rights`]: rights.optional(),
    }),
  ]),
);
/** D-177. */
const standing = named('Standing', z.object({ account, groups: z.array(namedLink), rights, orgId: id }));
const deletion = named('Deletion', z.object({ wasDeleted: z.boolean() }));

const tokenQuestion = named('TokenQuestion', z.object({ token: z.string() }));
const one = ok(account);
const accounts = ok(z.array(account));
const groups = ok(z.array(accountGroup));
const A_USER = { id: 'account_id', of: ['users'] } as const;
const A_GROUP = { id: 'group_id', of: ['groups'] } as const;

/** Refusals of the whole service have a form of their own (D-180). */
function securityRows<const Table extends Record<string, Omit<Row, 'tag'>>>(tag: string, table: Table) {
  const inForm = Object.entries(table).map(([name, row]) => [name, { errorForm: 'SecurityError', ...row }]);
  return rowsOf(tag, Object.fromEntries(inForm) as Table); // the same rows, each with its form
}

const issues = {
  right: 'none',
  answer: ok(token),
  isPrivate: true,
  errors: [429],
  errorForm: 'TokenError',
  description: 'The client_credentials grant takes an API key and its secret as Basic authentication.',
} as const;
const inspects = {
  summary: 'What is a token worth?',
  right: 'caller',
  body: form(tokenQuestion, (sent) => readFields(tokenQuestion, sent)),
  answer: ok(tokenInspection),
} as const;
const tells = {
  summary: 'Account, groups and rights of the caller',
  right: 'caller',
  answer: ok(standing),
} as const;

/** Tokens: at an organization, and anywhere with less to it (D-170, D-176, D-177). */
export const tokenRows = securityRows('Tokens and keys', {
  issueToken: {
    route: 'post /security/{fqon}/oauth/issue',
    summary: 'Get an access token: password or client_credentials',
    ...issues,
    body: form(tokenRequest, (sent) => {
      const grant = readFields(anyGrant, sent);
      return { ...grant, ...(grant.grant_type === 'password' && { signIn: readFields(signIn, sent) }) };
    }),
  },
  inspectToken: { route: 'post /security/{fqon}/oauth/inspect', ...inspects, errors: [404] },
  readStanding: { route: 'post /security/{fqon}/auth', ...tells, errors: [404] },
  issueTokenAnywhere: {
    route: 'post /security/oauth/issue',
    summary: 'Get an access token: client_credentials',
    ...issues,
    body: form(tokenRequest, (sent) => readFields(anyGrant, sent)),
    security: ['basic'],
  },
  inspectTokenAnywhere: { route: 'post /security/oauth/inspect', ...inspects },
  readStandingAnywhere: { route: 'post /security/auth', ...tells },
});

/** Key pairs, and the end of keys and tokens (D-173, D-174). */
export const keyRows = securityRows('Tokens and keys', {
  createApiKey: {
    route: 'post /security/accounts/{account_id}/apiKeys',
    summary: 'Create an API key',
    description: 'Authenticate with an existing key pair: a Bearer token is refused. The secret is shown only here.',
    right: mayOrOwn('user.update', A_USER.id),
    target: A_USER,
    body: optionalJson(
      named('ApiKeyRequest', z.object({ orgId: id.nullish().describe('Required for a key of another account') })),
    ),
    answer: made(apiKey, 'The new pair'),
    security: ['basic'],
    isPrivate: true,
  },
  deleteApiKey: {
    route: 'delete /security/apiKeys/{api_key}',
    summary: 'Revoke an API key',
    right: may('user.update', 'api_key'),
    answer: ok(deletion),
  },
  deleteAccessToken: {
    route: 'delete /security/accessTokens/{token}',
    summary: 'Revoke an access token',
    right: may('user.update', 'token'),
    answer: ok(deletion),
  },
});

/** Accounts and the membership of groups (D-178, D-179). */
export const accountRows = securityRows('Accounts', {
  readOwnAccount: {
    route: 'get /security/accounts/self',
    summary: 'Whose credentials are these?',
    right: 'caller',
    answer: one,
  },
  readAccount: {
    route: 'get /security/accounts/{account_id}',
    summary: 'Read an account',
    right: mayOrOwn('user.view', A_USER.id),
    target: A_USER,
    answer: one,
  },
  patchAccount: {
    route: 'patch /security/accounts/{account_id}',
    summary: 'Change an account',
    right: mayOrOwn('user.update', A_USER.id),
    target: A_USER,
    body: { ...readJson(z.union([accountChange, patchDocument]), readAccountPatch), mediaTypes: PATCH_TYPES },
    answer: one,
    errors: [409, 422],
  },
  deleteAccount: {
    route: 'delete /security/accounts/{account_id}',
    summary: 'Delete an account, and with it the user',
    right: may('user.delete', A_USER.id),
    target: A_USER,
    answer: gone,
    errors: [409],
  },
  disableAccount: {
    route: 'post /security/accounts/{account_id}/disable',
    summary: 'Lock an account',
    right: may('user.update', A_USER.id),
    target: A_USER,
    answer: one,
    errors: [409],
  },
  enableAccount: {
    route: 'post /security/accounts/{account_id}/enable',
    summary: 'Unlock an account',
    right: may('user.update', A_USER.id),
    target: A_USER,
    answer: one,
    errors: [409],
  },
  readAccountGroup: {
    route: 'get /security/groups/{group_id}',
    summary: 'Read a group',
    right: may('group.view', A_GROUP.id),
    target: A_GROUP,
    answer: ok(accountGroup),
  },
  changeAccountGroup: {
    route: 'patch /security/groups/{group_id}/accounts',
    summary: 'Add and remove members of a group',
    right: may('group.update', A_GROUP.id),
    target: A_GROUP,
    body: { ...json(membershipPatch), mediaTypes: PATCH_TYPES },
    answer: ok(z.array(namedLink), 'The members after the change'),
  },
});

/** How the service fares. */
export const statusRows = securityRows('Security service', {
  readSecurityHealth: {
    route: 'get /security/health',
    summary: 'Does it work?',
    right: 'none',
    answer: ok(health),
  },
  readSecurityInfo: {
    route: 'get /security/info',
    summary: 'Version and time',
    right: 'caller',
    answer: ok(
      named('SecurityInfo', z.object({ status: z.literal('healthy'), url: z.url(), time, version: z.string() })),
    ),
  },
  readInitialization: {
    route: 'get /security/init',
    summary: 'Is it initialized? Always',
    right: 'caller',
    answer: ok(z.object({ initialized: z.literal(true) })),
  },
  initialize: {
    route: 'post /security/init',
    summary: 'Refused: it is initialized',
    right: 'caller',
    errors: [409],
  },
});

/** Organizations with their accounts and groups. The last of the service: the first segment is any organization's name. */
export const directoryRows = securityRows('Directories', {
  listSecurityOrganizations: {
    route: 'get /security/orgs',
    summary: 'List the organizations',
    right: 'caller',
    answer: ok(z.array(organization)),
  },
  readOwnOrganization: {
    route: 'get /security/orgs/current',
    summary: 'The organization of the caller',
    right: 'caller',
    answer: ok(organization),
  },
  listAccountsOfDirectory: {
    route: 'get /security/directories/{directory_id}/accounts',
    summary: 'Its accounts',
    right: 'caller',
    answer: accounts,
    errors: [400, 404],
  },
  listGroupsOfDirectory: {
    route: 'get /security/directories/{directory_id}/groups',
    summary: 'Its groups',
    right: 'caller',
    answer: groups,
    errors: [400, 404],
  },
  readSecurityOrganization: {
    route: 'get /security/{fqon}',
    summary: 'Read an organization',
    right: may('org.view', 'fqon'),
    answer: ok(organization),
  },
  listAccounts: {
    route: 'get /security/{fqon}/accounts',
    summary: 'List the accounts of an organization',
    right: 'caller',
    answer: accounts,
  },
  listAccountGroups: {
    route: 'get /security/{fqon}/groups',
    summary: 'List the groups of an organization',
    right: 'caller',
    answer: groups,
  },
  listDirectories: {
    route: 'get /security/{fqon}/directories',
    summary: 'The one directory of an organization',
    right: may('org.view', 'fqon'),
    answer: ok(z.array(directory)),
  },
  listAccountStores: {
    route: 'get /security/{fqon}/accountStores',
    summary: 'The one account store of an organization',
    right: may('org.view', 'fqon'),
    answer: ok(z.array(accountStore)),
  },
});
