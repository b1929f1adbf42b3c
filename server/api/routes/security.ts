import { z } from 'zod';
import { PlatformError } from '../../model/errors.ts';
import { parseWith } from '../../model/rules/validate.ts';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { readAccountPatch } from '../schemas/account-patch.ts';
import { health, PATCH_TYPES, patchDocument } from '../schemas/forms.ts';
import { apiKey, id, looseObject, named, object, time } from '../schemas/parts.ts';
import {
  created,
  defineRoutes,
  form,
  json,
  noContent,
  ok,
  optionalJson,
  permission,
  permissionOrOwn,
  readJson,
  route,
} from './route.ts';

/** Placeholder for the lower-case prefix of type names, with which some members of tokens begin (D-080, D-170, D-176). */
export const PREFIX = '{prefix}';

const epochSeconds = z.int().describe('Seconds since 1970');
const rights = z.array(z.string()).describe('Actions on the organization');
const namedLink = object('NamedLink', { id, name: z.string(), href: z.url() });
const directory = object('Directory', {
  id,
  name: z.string(),
  orgId: id,
  directoryType: z.literal('INTERNAL').optional(),
});

const account = object('Account', {
  id,
  username: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  description: z.string().optional(),
  email: z.string().optional(),
  phoneNumber: z.string().optional(),
  directory,
});

const accountGroup = object('AccountGroup', {
  id,
  name: z.string(),
  description: z.string().optional(),
  directory,
  disabled: z.boolean(),
  accounts: z.array(namedLink),
});

const accountStore = object('AccountStore', {
  id,
  name: z.string(),
  storeType: z.literal('DIRECTORY'),
  accountStoreId: id,
  isDefaultAccountStore: z.boolean(),
  isDefaultGroupStore: z.boolean(),
});

const organization = object('SecurityOrganization', {
  id,
  name: z.string(),
  fqon: z.string(),
  description: z.string().optional(),
  parent: namedLink.optional(),
  children: z.array(namedLink),
});

const accountChange = named(
  'AccountChange',
  account
    .omit({ id: true, directory: true })
    .extend({ password: z.string().meta({ format: 'password' }) })
    .partial()
    .describe('The members to change'),
);
const membershipPatch = named(
  'MembershipPatch',
  z.array(z.object({ op: z.enum(['add', 'remove']), path: z.literal('/accounts'), value: id.describe('An account') })),
);

/** An access token (D-170). */
const token = looseObject('AccessToken', {
  access_token: z.string(),
  token_type: z.literal('bearer'),
  expires_in: z.int().describe('Seconds'),
  [`${PREFIX}_access_token_href`]: z.string().optional(),
});
const tokenRequest = object('TokenRequest', {
  grant_type: z.enum(['password', 'client_credentials']),
  username: z.string().optional().describe('Required for the password grant'),
  password: z.string().meta({ format: 'password' }).optional().describe('Required for the password grant'),
});
/** Unknown grants are accepted here, because they get a separate error code (D-171). */
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
const standing = object('Standing', { account, groups: z.array(namedLink), rights, orgId: id });
const deletion = object('Deletion', { wasDeleted: z.boolean() });

const tokenQuestion = object('TokenQuestion', { token: z.string() });
const accountAnswer = ok(account);
const accounts = ok(z.array(account));
const groups = ok(z.array(accountGroup));
const A_USER = { id: 'account_id', types: ['users'] } as const;
const A_GROUP = { id: 'group_id', types: ['groups'] } as const;

const issues = {
  permission: 'none',
  security: ['basic'],
  answer: ok(token),
  isPrivate: true,
  errors: [429],
  description: 'The client_credentials grant takes an API key and its secret as Basic authentication.',
} as const;
const inspects = {
  summary: 'Inspect a token',
  permission: 'caller',
  body: form(tokenQuestion, (fields) => readFields(tokenQuestion, fields), { token: EXAMPLE_ID }),
  answer: ok(tokenInspection),
} as const;
const readsAccess = {
  summary: 'Read the account, groups and permissions of the caller',
  permission: 'caller',
  answer: ok(standing),
} as const;

/** Tokens of an organization; the routes without an organization return less (D-170, D-176, D-177). */
export const tokenRoutes = defineRoutes('Tokens and keys', {
  issueToken: {
    route: 'post /security/{fqon}/oauth/issue',
    summary: 'Get an access token: password or client_credentials',
    ...issues,
    areCredentialsOptional: true,
    body: form(
      tokenRequest,
      (fields) => {
        const grant = readFields(anyGrant, fields);
        return { ...grant, ...(grant.grant_type === 'password' && { signIn: readFields(signIn, fields) }) };
      },
      { grant_type: 'password', username: 'root', password: 'your password' },
    ),
  },
  inspectToken: { route: 'post /security/{fqon}/oauth/inspect', ...inspects },
  readStanding: { route: 'post /security/{fqon}/auth', ...readsAccess },
  issueTokenAnywhere: {
    route: 'post /security/oauth/issue',
    summary: 'Get an access token: client_credentials',
    ...issues,
    body: form(tokenRequest, (fields) => readFields(anyGrant, fields), { grant_type: 'client_credentials' }),
  },
  inspectTokenAnywhere: { route: 'post /security/oauth/inspect', ...inspects },
  readStandingAnywhere: { route: 'post /security/auth', ...readsAccess },
});

/** API keys, and revocation of keys and tokens (D-173, D-174). */
export const keyRoutes = defineRoutes('Tokens and keys', {
  createApiKey: route('post /security/accounts/{account_id}/apiKeys', permissionOrOwn('user.update', A_USER.id), {
    summary: 'Create an API key',
    description:
      'Authenticate with an existing API key; the platform rejects a Bearer token. This response is the only one that contains the secret.',
    target: A_USER,
    body: optionalJson(
      object('ApiKeyRequest', { orgId: id.nullish().describe('Required for a key of another account') }),
      {},
    ),
    answer: created(apiKey, 'The new API key'),
    security: ['basic'],
    isPrivate: true,
  }),
  deleteApiKey: route('delete /security/apiKeys/{api_key}', permission('user.update', 'api_key'), {
    summary: 'Revoke an API key',
    answer: ok(deletion),
  }),
  deleteAccessToken: route('delete /security/accessTokens/{token}', permission('user.update', 'token'), {
    summary: 'Revoke an access token',
    answer: ok(deletion),
  }),
});

const changesLock = { target: A_USER, answer: accountAnswer, errors: [409] } as const;

/** Accounts and group membership (D-178, D-179). */
export const accountRoutes = defineRoutes('Accounts', {
  readOwnAccount: route('get /security/accounts/self', 'caller', {
    summary: 'Read the account of the caller',
    answer: accountAnswer,
  }),
  readAccount: route('get /security/accounts/{account_id}', permissionOrOwn('user.view', A_USER.id), {
    summary: 'Read an account',
    target: A_USER,
    answer: accountAnswer,
  }),
  patchAccount: route('patch /security/accounts/{account_id}', permissionOrOwn('user.update', A_USER.id), {
    summary: 'Update an account',
    target: A_USER,
    body: {
      ...readJson(z.union([accountChange, patchDocument]), readAccountPatch, { firstName: 'Ada', lastName: 'Byrne' }),
      mediaTypes: PATCH_TYPES,
    },
    answer: accountAnswer,
    errors: [409, 422],
  }),
  deleteAccount: route('delete /security/accounts/{account_id}', permission('user.delete', A_USER.id), {
    summary: 'Delete an account and its user',
    target: A_USER,
    answer: noContent,
    errors: [409],
  }),
  disableAccount: route('post /security/accounts/{account_id}/disable', permission('user.update', A_USER.id), {
    ...changesLock,
    summary: 'Lock an account',
  }),
  enableAccount: route('post /security/accounts/{account_id}/enable', permission('user.update', A_USER.id), {
    ...changesLock,
    summary: 'Unlock an account',
  }),
  readAccountGroup: route('get /security/groups/{group_id}', permission('group.view', A_GROUP.id), {
    summary: 'Read a group',
    target: A_GROUP,
    answer: ok(accountGroup),
  }),
  changeAccountGroup: route('patch /security/groups/{group_id}/accounts', permission('group.update', A_GROUP.id), {
    summary: 'Add or remove members of a group',
    target: A_GROUP,
    body: {
      ...json(membershipPatch, [{ op: 'add', path: '/accounts', value: EXAMPLE_ID }]),
      mediaTypes: PATCH_TYPES,
    },
    answer: ok(z.array(namedLink), 'The members after the change'),
  }),
});

export const statusRoutes = defineRoutes('Security service', {
  readSecurityHealth: route('get /security/health', 'none', {
    summary: 'Check the health of the service',
    answer: ok(health),
  }),
  readSecurityInfo: route('get /security/info', 'caller', {
    summary: 'Read the version and time',
    answer: ok(object('SecurityInfo', { status: z.literal('healthy'), url: z.url(), time, version: z.string() })),
  }),
  readInitialization: route('get /security/init', 'caller', {
    summary: 'Check whether the service is initialized; always true',
    answer: ok(z.object({ initialized: z.literal(true) })),
  }),
  initialize: route('post /security/init', 'caller', {
    summary: 'Always rejected: the service is already initialized',
    errors: [409],
  }),
});

/** These routes must be last, because the first segment can be the name of any organization. */
export const directoryRoutes = defineRoutes('Directories', {
  listSecurityOrganizations: route('get /security/orgs', 'caller', {
    summary: 'List the organizations',
    answer: ok(z.array(organization)),
  }),
  readOwnOrganization: route('get /security/orgs/current', 'caller', {
    summary: 'Read the organization of the caller',
    answer: ok(organization),
  }),
  listAccountsOfDirectory: route('get /security/directories/{directory_id}/accounts', 'caller', {
    summary: "List the accounts of the caller's organization",
    answer: accounts,
  }),
  listGroupsOfDirectory: route('get /security/directories/{directory_id}/groups', 'caller', {
    summary: "List the groups of the caller's organization",
    answer: groups,
  }),
  readSecurityOrganization: route('get /security/{fqon}', permission('org.view', 'fqon'), {
    summary: 'Read an organization',
    answer: ok(organization),
  }),
  listAccounts: route('get /security/{fqon}/accounts', 'caller', {
    summary: 'List the accounts of an organization',
    answer: accounts,
  }),
  listAccountGroups: route('get /security/{fqon}/groups', 'caller', {
    summary: 'List the groups of an organization',
    answer: groups,
  }),
  listDirectories: route('get /security/{fqon}/directories', permission('org.view', 'fqon'), {
    summary: 'List the directory of an organization',
    answer: ok(z.array(directory)),
  }),
  listAccountStores: route('get /security/{fqon}/accountStores', permission('org.view', 'fqon'), {
    summary: 'List the account store of an organization',
    answer: ok(z.array(accountStore)),
  }),
});

/** Parses form fields; an empty field counts as absent (RFC 6749 section 3.2). Throws 400 for a duplicate (D-171) or missing field. */
function readFields<Schema extends z.ZodType>(schema: Schema, fields: URLSearchParams): z.output<Schema> {
  const repeated = [...fields.keys()].find((name, at, names) => names.indexOf(name) < at);
  if (repeated !== undefined)
    throw new PlatformError('invalid_body', `form field '${repeated.slice(0, 64)}' must not be repeated`);
  return parseWith(schema, Object.fromEntries([...fields].filter(([, value]) => value !== '')));
}
