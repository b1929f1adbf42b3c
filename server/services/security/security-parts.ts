import type { Request, Router } from 'express';
import type { Routes } from '../../api/routes/route.ts';
import { authenticate, basicRealmFor } from '../../api/server/authenticate.ts';
import { type Handlers, mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Authenticator, Authorizer, Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import { derivedId, parseUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { findOrganization, fqonOf, owningOrganization } from '../../model/rules/hierarchy.ts';
import { USER } from '../../model/type-names.ts';
import { GROUP, membersOf } from '../../model/types/group.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import { findUser, type PasswordCheck } from './authenticator.ts';
import type { Credentials } from './credentials.ts';

export interface SecurityOptions extends PasswordCheck {
  credentials: Credentials;
  authenticator: Authenticator;
  authorizer: Authorizer;
  /** Serves the rows that change accounts and groups: through the resource service, as any other change (D-072). */
  accountChanges(parts: SecurityParts): Router;
  /** Prefix of type names (D-080); in lower case it begins the platform's own token members (D-170, D-176). */
  prefix: string;
  /** `{security_url}` as this client sees it (D-011), without trailing slash. */
  addresses(request: Request): { securityUrl: string };
  version: string;
  nowMs(): number;
  /** Counts failed attempts with keys, which are checked so fast that guessed ones would displace users. */
  keyAttempts: AttemptLimiter;
  onFault(fault: unknown): void;
}

const FQON = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

export type SecurityParts = ReturnType<typeof securityParts>;

export function securityParts(options: SecurityOptions) {
  const { view, authorizer } = options;
  const named = (noun: string, type: string) => (text: string) => {
    const id = parseUuid(text);
    const found = view.find(id);
    if (found?.type !== type) throw new PlatformError('not_found', `${noun} ${id} not found`);
    return found;
  };
  const guard: RouteGuard = {
    view,
    authorizer,
    callerOf(req, acceptedScheme) {
      const { securityUrl } = options.addresses(req);
      const fqon = String(req.params.fqon);
      return authenticate(options.authenticator.identify(req.headers.authorization), {
        securityUrl,
        ...(FQON.test(fqon) && req.params.fqon !== undefined && { fqon }),
        ...(acceptedScheme && { acceptedScheme }),
        basicRealm: acceptedScheme === 'basic' ? securityUrl : basicRealmFor(req, securityUrl),
      });
    },
  };
  /** Resolves the parameters of a path; each throws 404, and 400 for an invalid id. */
  const resolvers: Record<'fqon' | 'account_id' | 'group_id', (text: string) => StoredResource> = {
    fqon(text) {
      const found = FQON.test(text) ? findOrganization(view, text) : undefined;
      if (!found) throw new PlatformError('not_found', `organization '${text.slice(0, 255)}' not found`);
      return found;
    },
    account_id: named('account', USER),
    group_id: named('group', GROUP),
  };
  return {
    options,
    mount: <Table extends Routes>(table: Table, handlers: Handlers<Table, typeof resolvers>): Router =>
      mountRoutes(table, guard, handlers, resolvers),
    resolvers,
    forms: (req: Request) => accountForms(view, options.addresses(req).securityUrl),
    self({ userId }: Caller): StoredResource {
      const user = findUser(view, userId);
      if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
      return user;
    },
  };
}

/** The organization's one built-in directory (D-179): its id is derived from the organization's. */
export function directoryId(organization: StoredResource): Uuid {
  return derivedId(organization.id, 'directory');
}

/**
 * Returns the forms of accounts, groups and organizations in the security service (D-178, D-179).
 * @param securityUrl where links lead, without trailing slash
 */
function accountForms(view: WorldView, securityUrl: string) {
  const accountLink = ({ id, name }: StoredResource) => ({ id, name, href: `${securityUrl}/accounts/${id}` });
  const organizationLink = (organization: StoredResource) => {
    const { id, name } = organization;
    return { id, name, href: `${securityUrl}/${fqonOf(view, organization)}` };
  };
  const directoryLink = (organization: StoredResource) => {
    const name = `${fqonOf(view, organization)}-directory`;
    return { id: directoryId(organization), name, orgId: organization.id };
  };
  const directoryOf = (member: StoredResource) => directoryLink(owningOrganization(view, member));
  const members = (group: StoredResource) => membersOf(group, view).map(accountLink);
  // What is undefined is left out of an answer, never null (D-026).
  return {
    account(user: StoredResource) {
      const { firstName, lastName, email, phoneNumber } = user.properties;
      return {
        id: user.id,
        username: user.name,
        firstName: textOf(firstName) ?? '',
        lastName: textOf(lastName) ?? '',
        description: user.description,
        email: textOf(email),
        phoneNumber: textOf(phoneNumber),
        directory: directoryOf(user),
      };
    },
    group(group: StoredResource) {
      const { id, name, description } = group;
      return { id, name, description, directory: directoryOf(group), disabled: false, accounts: members(group) };
    },
    groupLink: ({ id, name }: StoredResource) => ({ id, name, href: `${securityUrl}/groups/${id}` }),
    members,
    organization(organization: StoredResource, children: readonly StoredResource[]) {
      const parent = organization.parent === null ? undefined : owningOrganization(view, organization);
      return {
        id: organization.id,
        name: organization.name,
        fqon: fqonOf(view, organization),
        description: organization.description,
        parent: parent && organizationLink(parent),
        children: children.map(organizationLink),
      };
    },
    directory: (organization: StoredResource) => ({
      ...directoryLink(organization),
      directoryType: 'INTERNAL' as const,
    }),
    accountStore: (organization: StoredResource) => ({
      id: derivedId(organization.id, 'accountStore'),
      name: `${fqonOf(view, organization)}-accounts`,
      storeType: 'DIRECTORY' as const,
      accountStoreId: directoryId(organization),
      isDefaultAccountStore: true,
      isDefaultGroupStore: true,
    }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
