import { type Request, Router } from 'express';
import type { BodyOf } from '../../api/routes/route.ts';
import { accountRoutes, directoryRoutes, statusRoutes, tokenRoutes } from '../../api/routes/security.ts';
import { answerErrors, TokenError } from '../../api/server/answer-error.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseUuid, type StoredResource } from '../../model/record.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { isNear, owningOrganization } from '../../model/rules/hierarchy.ts';
import { groupsOf } from '../../model/types/group.ts';
import { keyRouter } from './access-routes.ts';
import { callerOf, findSignedIn, findUser, formDecoded, isDisabled, readAuthorization } from './authenticator.ts';
import { directoryId, type SecurityOptions, type SecurityParts, securityParts } from './security-parts.ts';

const { readOwnAccount, readAccount, readAccountGroup } = accountRoutes;

/** The security service, to be mounted at `/security` (section 13 of the decisions); answers its own errors (D-180). */
export function securityRouter(options: SecurityOptions): Router {
  const parts = securityParts(options);
  const router = Router({ caseSensitive: true });
  router.use(
    parts.mount(statusRoutes, {
      readSecurityHealth: () => ({ status: 'healthy' as const }),
      readSecurityInfo: ({ req }) => ({
        status: 'healthy' as const,
        url: options.addresses(req).securityUrl,
        time: new Date(options.nowMs()).toISOString(),
        version: options.version,
      }),
      readInitialization: () => ({ initialized: true as const }),
      initialize() {
        throw new PlatformError('invalid_state', 'the security service is initialized already');
      },
    }),
    tokenRouter(parts),
    keyRouter(parts),
    accountRouter(parts),
    options.accountChanges(parts),
  );
  // Last, since it takes any first segment for an organization's name.
  router.use(organizationRouter(parts));

  router.use((http) => {
    throw new PlatformError('no_route', `no route: ${http.method} ${http.baseUrl}${http.path}`);
  });
  router.use(answerErrors(options.onFault));
  return router;
}

/** Accounts and groups as they are (D-178, D-179); changed they are where users and groups live (`SecurityOptions.accountChanges`). */
function accountRouter({ mount, forms, self }: SecurityParts): Router {
  return mount(
    { readOwnAccount, readAccount, readAccountGroup },
    {
      readOwnAccount: ({ caller, req }) => forms(req).account(self(caller)),
      readAccount: ({ resource, req }) => forms(req).account(resource),
      readAccountGroup: ({ resource, req }) => forms(req).group(resource),
    },
  );
}

/** Organizations with their accounts and groups, as the security service shows them (D-178, D-179). */
function organizationRouter({ options, mount, resolvers, forms, self }: SecurityParts): Router {
  const { view, authorizer } = options;
  const organizationOf = ({ fqon }: { fqon: string }) => resolvers.fqon(fqon);
  /** The organization whose built-in directory the path names; throws 404 when there is none. */
  const directoryOwner = ({ directory_id }: { directory_id: string }): StoredResource => {
    const id = parseUuid(directory_id);
    const owner = view.all('orgs').find((organization) => directoryId(organization) === id);
    if (!owner) throw new PlatformError('not_found', `directory ${id} not found`);
    return owner;
  };
  /** Returns the resources that the caller may see (D-118). */
  const visible = (caller: Caller, action: string, resources: readonly StoredResource[]) =>
    resources.filter(({ id }) => authorizer.can(caller, action, id));
  const organizationFor = (caller: Caller, req: Request, organization: StoredResource) =>
    forms(req).organization(organization, visible(caller, 'org.view', view.children(organization.id, 'orgs')));
  const accountsIn = (caller: Caller, req: Request, { id }: StoredResource) =>
    visible(caller, 'user.view', view.ownedBy(id, 'users')).map((user) => forms(req).account(user));
  const groupsIn = (caller: Caller, req: Request, { id }: StoredResource) =>
    visible(caller, 'group.view', view.ownedBy(id, 'groups')).map((group) => forms(req).group(group));

  return mount(directoryRoutes, {
    listSecurityOrganizations: ({ caller, req }) =>
      visible(caller, 'org.view', view.all('orgs')).map((organization) => organizationFor(caller, req, organization)),
    readOwnOrganization: ({ caller, req }) => organizationFor(caller, req, owningOrganization(view, self(caller))),
    listAccountsOfDirectory: ({ caller, path, req }) => accountsIn(caller, req, directoryOwner(path)),
    listGroupsOfDirectory: ({ caller, path, req }) => groupsIn(caller, req, directoryOwner(path)),
    readSecurityOrganization: ({ caller, path, req }) => organizationFor(caller, req, organizationOf(path)),
    listAccounts: ({ caller, path, req }) => accountsIn(caller, req, organizationOf(path)),
    listAccountGroups: ({ caller, path, req }) => groupsIn(caller, req, organizationOf(path)),
    listDirectories: ({ path, req }) => [forms(req).directory(organizationOf(path))],
    listAccountStores: ({ path, req }) => [forms(req).accountStore(organizationOf(path))],
  });
}

interface Grant {
  user: StoredResource;
  orgId: string;
}

/** Tokens: the password and client_credentials grants, and what a token or a caller amounts to (D-170, D-171, D-176, D-177, D-185). */
function tokenRouter({ options, mount, forms, self }: SecurityParts): Router {
  const { view, credentials, authorizer } = options;
  const prefix = options.prefix.toLowerCase();

  const issue = async ({ found, body, req }: At & { body: SentGrant }) => {
    const { user, orgId } = await grantFor(options, body, found.fqon, req);
    return {
      access_token: await credentials.issueToken(user.id, orgId),
      token_type: 'bearer' as const,
      expires_in: credentials.tokenLifetimeMs / 1000,
      [`${prefix}_access_token_href`]: '',
    };
  };
  const inspect = ({ body: { token }, req }: { body: { token: string }; req: Request }) => {
    const record = credentials.findToken(token);
    const user = record && findUser(view, record.accountId);
    if (!record || !user || isDisabled(user)) return { active: false as const };
    const { account, groups, rights } = standing(req, user, view.find(record.orgId));
    return {
      active: true as const,
      username: user.name,
      sub: `/accounts/${user.id}`,
      iss: options.addresses(req).securityUrl,
      exp: Math.floor(record.expiresAtMs / 1000),
      iat: Math.floor(record.issuedAtMs / 1000),
      jti: token,
      [`${prefix}_org_id`]: record.orgId,
      [`${prefix}_account`]: account,
      [`${prefix}_groups`]: groups,
      [`${prefix}_rights`]: rights,
    };
  };
  /** The account, its groups, and the actions it may do on the organization itself (its own one if none is given). */
  const standing = (req: Request, user: StoredResource, organization: StoredResource | undefined) => {
    const where = organization ?? owningOrganization(view, user);
    const caller = callerOf(view, user, 'internal');
    const views = forms(req);
    return {
      account: views.account(user),
      groups: groupsOf(user, view).map((group) => views.groupLink(group)),
      rights: [...actionsOf(where)].filter((action) => authorizer.can(caller, action, where.id)),
      orgId: where.id,
    };
  };
  const readStanding = ({ caller, found, req }: At & { caller: Caller }) => standing(req, self(caller), found.fqon);

  return mount(tokenRoutes, {
    issueToken: issue,
    issueTokenAnywhere: issue,
    inspectToken: inspect,
    inspectTokenAnywhere: inspect,
    readStanding: readStanding,
    readStandingAnywhere: readStanding,
  });
}

/** A request, and the organization that its path begins with, if it names one. */
interface At {
  found: { fqon?: StoredResource };
  req: Request;
}

type SentGrant = BodyOf<typeof tokenRoutes.issueToken>;

async function grantFor(
  options: SecurityOptions,
  grant: SentGrant,
  organization: StoredResource | undefined,
  http: Request,
): Promise<Grant> {
  const address = http.socket.remoteAddress;
  if (grant.grant_type === 'client_credentials') {
    return clientGrant(options, organization, http.headers.authorization, address);
  }
  if (grant.signIn && organization) {
    const user = await findSignedIn(options, grant.signIn, address, organization);
    if (user) return { user, orgId: organization.id };
    throw new TokenError('invalid_grant', 'no such user here, wrong password, or the account is disabled');
  }
  throw new TokenError(
    'unsupported_grant_type',
    organization
      ? 'grant_type must be password or client_credentials'
      : 'grant_type must be client_credentials here; the password grant is at {fqon}/oauth/issue',
  );
}

function clientGrant(
  { view, credentials, keyAttempts }: SecurityOptions,
  organization: StoredResource | undefined,
  authorization: string | undefined,
  address: string | undefined,
): Grant {
  const claim = readAuthorization(authorization ?? '');
  if (claim?.scheme !== 'basic') {
    throw new TokenError('invalid_client', 'send an API key and its secret as Basic authentication');
  }
  const { key, secret } = claim;
  const attempt = keyAttempts.begin(key, address);
  const record = credentials.verifyKey(key, secret) ?? credentials.verifyKey(formDecoded(key), formDecoded(secret));
  const user = record && findUser(view, record.accountId);
  if (!record || !user || (organization && !isNear(view, user, organization))) {
    throw new TokenError('invalid_client', 'this API key and secret are not valid here');
  }
  if (isDisabled(user)) throw new TokenError('invalid_grant', 'the account of this API key is disabled');
  attempt.succeeded();
  return { user, orgId: organization?.id ?? record.orgId };
}
