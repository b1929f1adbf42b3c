import { type Request, Router } from 'express';
import { accountRoutes, directoryRoutes, statusRoutes } from '../../api/routes/security.ts';
import { answerErrors } from '../../api/server/answer-error.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseUuid, type StoredResource } from '../../model/record.ts';
import { owningOrganization } from '../../model/rules/hierarchy.ts';
import { keyRouter } from './access-routes.ts';
import { directoryId } from './account-forms.ts';
import { type SecurityOptions, type SecurityParts, securityParts } from './security-parts.ts';
import { tokenRouter } from './token-routes.ts';

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
  const accountsIn = (caller: Caller, req: Request, { id }: StoredResource) =>
    visible(caller, 'user.view', view.ownedBy(id, 'users')).map((user) => forms(req).account(user));
  const groupsIn = (caller: Caller, req: Request, { id }: StoredResource) =>
    visible(caller, 'group.view', view.ownedBy(id, 'groups')).map((group) => forms(req).group(group));

  return mount(directoryRoutes, {
    listSecurityOrganizations: ({ caller, req }) =>
      visible(caller, 'org.view', view.all('orgs')).map((organization) => forms(req).organization(organization)),
    readOwnOrganization: ({ caller, req }) => forms(req).organization(owningOrganization(view, self(caller))),
    listAccountsOfDirectory: ({ caller, path, req }) => accountsIn(caller, req, directoryOwner(path)),
    listGroupsOfDirectory: ({ caller, path, req }) => groupsIn(caller, req, directoryOwner(path)),
    readSecurityOrganization: ({ path, req }) => forms(req).organization(organizationOf(path)),
    listAccounts: ({ caller, path, req }) => accountsIn(caller, req, organizationOf(path)),
    listAccountGroups: ({ caller, path, req }) => groupsIn(caller, req, organizationOf(path)),
    listDirectories: ({ path, req }) => [forms(req).directory(organizationOf(path))],
    listAccountStores: ({ path, req }) => [forms(req).accountStore(organizationOf(path))],
  });
}
