import { z } from 'zod';

const id = z.uuid();
const code = z.int().describe('The HTTP status');
const epochSeconds = z.int().describe('Seconds since 1970');

const NamedLink = z.object({ id, name: z.string(), href: z.url() });

const Directory = z.object({ id, name: z.string(), orgId: id, directoryType: z.literal('INTERNAL').optional() });

const Account = z.object({
  id,
  username: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  description: z.string().optional(),
  email: z.string().optional(),
  phoneNumber: z.string().optional(),
  directory: Directory,
});

const rights = z.array(z.string()).describe('Actions on the organization itself');

/** What every account, key and organization of the security service looks like (D-173, D-178, D-179). */
const fixed = {
  NamedLink,
  Directory,
  Account,
  /** D-180 */
  SecurityError: z.object({ code, message: z.string(), resource: z.string(), developerMessage: z.string() }),
  /** D-171 */
  TokenError: z.object({
    error: z.enum(['invalid_grant', 'invalid_client', 'invalid_request', 'unsupported_grant_type', 'server_error']),
    error_description: z.string(),
    code,
  }),
  /** D-170 */
  TokenRequest: z.object({
    grant_type: z.enum(['password', 'client_credentials']),
    username: z.string().optional().describe('For the password grant'),
    password: z.string().meta({ format: 'password' }).optional().describe('For the password grant'),
  }),
  TokenQuestion: z.object({ token: z.string() }),
  ApiKeyRequest: z.object({ orgId: id.nullish().describe('Required for a key of another account') }),
  ApiKey: z.object({
    apiKey: id.describe('User name of Basic authentication'),
    apiSecret: z.string().describe('Its password; shown only here'),
    accountId: id,
    disabled: z.boolean(),
  }),
  Deletion: z.object({ wasDeleted: z.boolean() }),
  AccountChange: Account.omit({ id: true, directory: true })
    .extend({ password: z.string().meta({ writeOnly: true }) })
    .partial()
    .describe('The members to set'),
  AccountGroup: z.object({
    id,
    name: z.string(),
    description: z.string().optional(),
    directory: Directory,
    disabled: z.boolean(),
    accounts: z.array(NamedLink),
  }),
  MembershipPatch: z.array(
    z.object({ op: z.enum(['add', 'remove']), path: z.literal('/accounts'), value: id.describe('An account') }),
  ),
  AccountStore: z.object({
    id,
    name: z.string(),
    storeType: z.literal('DIRECTORY'),
    accountStoreId: id,
    isDefaultAccountStore: z.boolean(),
    isDefaultGroupStore: z.boolean(),
  }),
  SecurityOrganization: z.object({
    id,
    name: z.string(),
    fqon: z.string(),
    description: z.string().optional(),
    parent: NamedLink.optional(),
    children: z.array(NamedLink),
  }),
  SecurityInfo: z.object({ status: z.literal('healthy'), url: z.url(), time: z.iso.datetime(), version: z.string() }),
  /** D-177 */
  Standing: z.object({ account: Account, groups: z.array(NamedLink), rights, orgId: id }),
};

/**
 * What the security service is sent and answers.
 *
 * @param typePrefix first segment of type names; in lower case it begins some members of tokens (D-170, D-176)
 */
export function securitySchemas(typePrefix: string): Record<string, z.ZodType> {
  const own = typePrefix.toLowerCase();
  return {
    ...fixed,
    Token: z.object({
      access_token: z.string(),
      token_type: z.literal('bearer'),
      expires_in: z.int().describe('Seconds'),
      [`${own}_access_token_href`]: z.string(),
    }),
    TokenInspection: z.union([
      z.object({ active: z.literal(false) }),
      z.object({
        active: z.literal(true),
        username: z.string(),
        sub: z.string(),
        iss: z.url(),
        exp: epochSeconds,
        iat: epochSeconds,
        jti: z.string(),
        [`${own}_org_id`]: id,
        [`${own}_account`]: Account,
        [`${own}_groups`]: z.array(NamedLink),
        [`${own}_rights`]: rights,
      }),
    ]),
  };
}
