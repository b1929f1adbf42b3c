import { may } from '../contract/right.ts';
import { gone, listOf, type Operation, ok, patchBody, ref, rowsOf } from './operation.ts';

const tokens = rowsOf('Tokens and keys');
const accounts = rowsOf('Accounts');
const directories = rowsOf('Directories');
const security = rowsOf('Security service');

const FORM = ['application/x-www-form-urlencoded'];
const account = ok(ref('Account'));
const accountList = ok(listOf(ref('Account')));
const groupList = ok(listOf(ref('AccountGroup')));

/** The routes of the security service (D-170..D-179). */
export const securityOperations: readonly Operation[] = [
  ...byOrganization('/security/{fqon}', ''),
  ...byOrganization('/security', 'Anywhere'),
  tokens('post /security/accounts/{account_id}/apiKeys', 'createApiKey', 'Create an API key', {
    right: may('user.update', 'account_id'),
    description: 'Authenticate with an existing key pair: a Bearer token is refused. The secret is shown only here.',
    body: { schema: ref('ApiKeyRequest'), optional: true },
    success: { status: 201, description: 'The new pair', schema: ref('ApiKey') },
    errors: [403, 404],
    security: ['basic'],
  }),
  tokens('delete /security/apiKeys/{api_key}', 'deleteApiKey', 'Revoke an API key', {
    right: may('user.update', 'api_key'),
    success: ok(ref('Deletion')),
    errors: [403],
  }),
  tokens('delete /security/accessTokens/{token}', 'deleteAccessToken', 'Revoke an access token', {
    right: may('user.update', 'token'),
    success: ok(ref('Deletion')),
    errors: [403],
  }),

  accounts('get /security/accounts/self', 'readOwnAccount', 'Whose credentials are these?', {
    right: 'caller',
    success: account,
  }),
  accounts('get /security/accounts/{account_id}', 'readAccount', 'Read an account', {
    right: may('user.view', 'account_id'),
    success: account,
    errors: [400, 403, 404],
  }),
  accounts('patch /security/accounts/{account_id}', 'patchAccount', 'Change an account', {
    right: may('user.update', 'account_id'),
    body: { ...patchBody, schema: { anyOf: [ref('AccountChange'), ref('PatchDocument')] } },
    success: account,
    errors: [403, 404, 409, 422],
  }),
  accounts('delete /security/accounts/{account_id}', 'deleteAccount', 'Delete an account, and with it the user', {
    right: may('user.delete', 'account_id'),
    success: gone,
    errors: [400, 403, 404, 409],
  }),
  accounts('post /security/accounts/{account_id}/disable', 'disableAccount', 'Lock an account', {
    right: may('user.update', 'account_id'),
    success: account,
    errors: [400, 403, 404, 409],
  }),
  accounts('post /security/accounts/{account_id}/enable', 'enableAccount', 'Unlock an account', {
    right: may('user.update', 'account_id'),
    success: account,
    errors: [400, 403, 404, 409],
  }),
  accounts('get /security/groups/{group_id}', 'readAccountGroup', 'Read a group', {
    right: may('group.view', 'group_id'),
    success: ok(ref('AccountGroup')),
    errors: [400, 403, 404],
  }),
  accounts('patch /security/groups/{group_id}/accounts', 'changeAccountGroup', 'Add and remove members of a group', {
    right: may('group.update', 'group_id'),
    body: { ...patchBody, schema: ref('MembershipPatch') },
    success: ok(listOf(ref('NamedLink')), 'The members after the change'),
    errors: [403, 404],
  }),

  directories('get /security/orgs', 'listSecurityOrganizations', 'List the organizations', {
    right: 'caller',
    success: ok(listOf(ref('SecurityOrganization'))),
  }),
  directories('get /security/orgs/current', 'readOwnOrganization', 'The organization of the caller', {
    right: 'caller',
    success: ok(ref('SecurityOrganization')),
  }),
  directories('get /security/{fqon}', 'readSecurityOrganization', 'Read an organization', {
    right: may('org.view', 'fqon'),
    success: ok(ref('SecurityOrganization')),
    errors: [403, 404],
  }),
  directories('get /security/{fqon}/accounts', 'listAccounts', 'List the accounts of an organization', {
    right: 'caller',
    success: accountList,
    errors: [404],
  }),
  directories('get /security/{fqon}/groups', 'listAccountGroups', 'List the groups of an organization', {
    right: 'caller',
    success: groupList,
    errors: [404],
  }),
  directories('get /security/{fqon}/directories', 'listDirectories', 'The one directory of an organization', {
    right: may('org.view', 'fqon'),
    success: ok(listOf(ref('Directory'))),
    errors: [403, 404],
  }),
  directories('get /security/{fqon}/accountStores', 'listAccountStores', 'The one account store of an organization', {
    right: may('org.view', 'fqon'),
    success: ok(listOf(ref('AccountStore'))),
    errors: [403, 404],
  }),
  directories('get /security/directories/{directory_id}/accounts', 'listAccountsOfDirectory', 'Its accounts', {
    right: 'caller',
    success: accountList,
    errors: [400, 404],
  }),
  directories('get /security/directories/{directory_id}/groups', 'listGroupsOfDirectory', 'Its groups', {
    right: 'caller',
    success: groupList,
    errors: [400, 404],
  }),

  security('get /security/health', 'readSecurityHealth', 'Does it work?', {
    right: 'none',
    success: ok(ref('Health')),
  }),
  security('get /security/info', 'readSecurityInfo', 'Version and time', {
    right: 'caller',
    success: ok(ref('SecurityInfo')),
  }),
  security('get /security/init', 'readInitialization', 'Is it initialized? Always', {
    right: 'caller',
    success: ok({ type: 'object' }),
  }),
  security('post /security/init', 'initialize', 'Refused: it is initialized', { right: 'caller', errors: [409] }),
].map((operation) => ({ errorSchema: 'SecurityError', ...operation }));

/** What exists for an organization and, with less to it, without one (D-170, D-176, D-177). */
function byOrganization(base: '/security' | '/security/{fqon}', suffix: string): Operation[] {
  const unknown = base === '/security' ? [] : [404];
  const grants = base === '/security' ? 'client_credentials' : 'password or client_credentials';
  return [
    tokens(`post ${base}/oauth/issue`, `issueToken${suffix}`, `Get an access token: ${grants}`, {
      description: 'The client_credentials grant takes an API key and its secret as Basic authentication.',
      body: { schema: ref('TokenRequest'), mediaTypes: FORM },
      success: ok(ref('Token')),
      errors: unknown,
      errorSchema: 'TokenError',
      right: 'none',
      ...(base === '/security' && { security: ['basic'] as const }),
    }),
    tokens(`post ${base}/oauth/inspect`, `inspectToken${suffix}`, 'What is a token worth?', {
      right: 'caller',
      body: { schema: ref('TokenQuestion'), mediaTypes: FORM },
      success: ok(ref('TokenInspection')),
      errors: unknown,
    }),
    tokens(`post ${base}/auth`, `readStanding${suffix}`, 'Account, groups and rights of the caller', {
      right: 'caller',
      success: ok(ref('Standing')),
      errors: unknown,
    }),
  ];
}
