import { setTimeout as delay } from 'node:timers/promises';
import type { Authenticator, Caller, Identification } from '../../model/caller.ts';
import { invalid } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { isNear, ORGANIZATION, owningOrganization } from '../../model/rules/hierarchy.ts';
import { USER } from '../../model/type-names.ts';
import { groupsOf } from '../../model/types/group.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import type { Credentials } from './credentials.ts';

/** Answers "who is this" from credentials and the present world (D-172): a deleted or disabled account proves nothing. */
export function createAuthenticator(view: WorldView, credentials: Credentials): Authenticator {
  return {
    identify(authorization): Identification {
      if (authorization === undefined) return { kind: 'none' };
      const claim = readAuthorization(authorization);
      if (!claim) return { kind: 'invalid', reason: 'wrong' };
      const proof =
        claim.scheme === 'bearer'
          ? credentials.readToken(claim.token)
          : (credentials.verifyKey(claim.key, claim.secret) ?? { reason: 'wrong' as const });
      if ('reason' in proof) return { kind: 'invalid', reason: proof.reason };
      const user = findUser(view, proof.accountId);
      if (!user || isDisabled(user)) return { kind: 'invalid', reason: 'ended' };
      const caller = callerOf(view, user, claim.scheme);
      if (claim.scheme === 'basic') return { kind: 'caller', caller: { ...caller, apiKey: claim.key } };
      return { kind: 'caller', caller: 'id' in proof ? { ...caller, tokenId: proof.id } : caller };
    },
  };
}

/** The unproven claim of an Authorization header. */
type Claim = { scheme: 'bearer'; token: string } | { scheme: 'basic'; key: string; secret: string };

const HEADER = /^(bearer|basic) +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Reads `Bearer <token>` or `Basic base64(key:secret)`, the scheme in any case (D-172); undefined when it is neither. */
export function readAuthorization(header: string): Claim | undefined {
  const [, scheme, value] = HEADER.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : { scheme: 'basic', key: pair.slice(0, colon), secret: pair.slice(colon + 1) };
}

/** Undoes the form encoding of OAuth clients in Basic (RFC 6749 section 2.3.1); the text itself if it has none. */
export function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The user behind an account: one id serves both (D-072). */
export function findUser(view: WorldView, id: Uuid): StoredResource | undefined {
  const found = view.find(id);
  return found?.type === USER ? found : undefined;
}

/** Was the account disabled (D-179)? Held in the hidden, server-set property `disabled` of its user. */
export function isDisabled(user: StoredResource): boolean {
  return user.properties.disabled === true;
}

/** The parts that check a user's password. */
export interface PasswordCheck {
  view: WorldView;
  /** True if this is the password of the user. Takes equally long without a user. */
  isPassword(password: string, user: StoredResource | undefined): Promise<boolean>;
  /** Counts failed sign-in attempts of all services. */
  attempts: AttemptLimiter;
}

/** The user of a name and password, if they are right and the account is enabled and exists at the organization. Throws 429. */
export async function findSignedIn(
  { view, isPassword, attempts }: PasswordCheck,
  { username, password }: { username: string; password: string },
  address: string | undefined,
  organization?: StoredResource,
): Promise<StoredResource | undefined> {
  const attempt = attempts.begin(username, address);
  const [named] = view.named('users', username);
  const user = named && (!organization || isNear(view, named, organization)) ? named : undefined;
  // Also without such a user, so that the response time does not reveal which users exist.
  const isRight = await isPassword(password, user);
  if (!user || !isRight || isDisabled(user)) {
    const delayMs = attempt.failureDelayMs();
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
    return undefined;
  }
  attempt.succeeded();
  return user;
}

/** True for the root user, who created the root organization (D-175). */
export function isRootUser(view: WorldView, userId: Uuid): boolean {
  return userId === view.root.owner;
}

/** The organization of a key or token; default: the account's. Throws 400 if it is none, or has no such account (D-170, D-173). */
export function organizationFor(view: WorldView, user: StoredResource, orgId: Uuid | undefined): StoredResource {
  const organization = orgId === undefined ? owningOrganization(view, user) : view.find(orgId);
  if (organization?.type !== ORGANIZATION) throw invalid('/orgId', `names no organization: ${orgId}`);
  if (!isNear(view, user, organization)) {
    throw invalid('/orgId', `names an organization where account '${user.name}' does not exist: ${orgId}`);
  }
  return organization;
}

export function callerOf(view: WorldView, user: StoredResource, scheme: Caller['scheme']): Caller {
  const groupIds = groupsOf(user, view).map((group) => group.id);
  return { userId: user.id, name: user.name, isRoot: isRootUser(view, user.id), groupIds, scheme };
}
