import type { Request, Router } from 'express';
import type { BodyOf } from '../../api/routes/route.ts';
import { tokenRoutes } from '../../api/routes/security.ts';
import { TokenError } from '../../api/server/answer-error.ts';
import type { Caller } from '../../model/caller.ts';
import type { StoredResource } from '../../model/record.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { isNear, owningOrganization } from '../../model/rules/hierarchy.ts';
import { groupsOf } from '../../model/types/group.ts';
import { callerOf, findUser, isDisabled } from './accounts.ts';
import { delayFailure, tooManyAttempts } from './attempt-limiter.ts';
import { formDecoded, readAuthorization } from './authenticator.ts';
import type { SecurityOptions, SecurityParts } from './security-parts.ts';

interface Grant {
  user: StoredResource;
  orgId: string;
}

/** Tokens: the password and client_credentials grants, and what a token or a caller amounts to (D-170, D-171, D-176, D-177, D-185). */
export function tokenRouter({ options, mount, forms, self }: SecurityParts): Router {
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
  if (grant.signIn && organization) return passwordGrant(options, grant.signIn, organization, address);
  throw new TokenError(
    'unsupported_grant_type',
    organization
      ? 'grant_type must be password or client_credentials'
      : 'grant_type must be client_credentials here; the password grant is at {fqon}/oauth/issue',
  );
}

async function passwordGrant(
  { view, attempts, isPassword }: SecurityOptions,
  { username, password }: { username: string; password: string },
  organization: StoredResource,
  address: string | undefined,
): Promise<Grant> {
  const attempt = attempts.begin(username, address);
  if ('waitS' in attempt) throw tooManyAttempts(attempt.waitS);
  const [named] = view.named('users', username);
  const user = named && isNear(view, named, organization) ? named : undefined;
  const isRight = await isPassword(password, user);
  if (!user || !isRight || isDisabled(user)) {
    await delayFailure(attempt);
    throw new TokenError('invalid_grant', 'no such user here, wrong password, or the account is disabled');
  }
  attempt.succeeded();
  return { user, orgId: organization.id };
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
  if ('waitS' in attempt) throw tooManyAttempts(attempt.waitS);
  const record = credentials.verifyKey(key, secret) ?? credentials.verifyKey(formDecoded(key), formDecoded(secret));
  const user = record && findUser(view, record.accountId);
  if (!record || !user || (organization && !isNear(view, user, organization))) {
    throw new TokenError('invalid_client', 'this API key and secret are not valid here');
  }
  if (isDisabled(user)) throw new TokenError('invalid_grant', 'the account of this API key is disabled');
  attempt.succeeded();
  return { user, orgId: organization?.id ?? record.orgId };
}
