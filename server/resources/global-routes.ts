import { globalRows, organizationRows } from '../contract/meta-global.ts';
import type { Served } from '../http/serve.ts';
import { listFromAbove } from './lists.ts';
import { created, type ResourceRouteParts } from './route-parts.ts';
import { searches } from './searches.ts';
import { type Listing, list, read } from './selection.ts';

/** Routes of the platform as a whole, and of organizations by name (D-005, D-015, D-016, D-188, D-189). */
export function globalRoutes({ service, answer }: ResourceRouteParts): Served[] {
  const { view } = service;
  const { names, records } = searches(service);
  const listAll = (asked: Listing, word: 'orgs' | 'users' | 'rules') => list(service, asked, view.all(word), word);
  return [
    ...answer(organizationRows, {
      listAllOrganizations: (asked) => listAll(asked, 'orgs'),
      createTopOrganization: async ({ act, body, ...asked }) =>
        created(await service.create(act, view.root.id, 'orgs', body), asked),
      searchOrganizations: (asked) => names(asked, view.all('orgs')),
      readOrganizationByName: (asked) => read(asked, asked.found.fqon),
      createSubOrganization: async ({ act, body, found, ...asked }) =>
        created(await service.create(act, found.fqon.id, 'orgs', body), asked),
      async patchOrganizationByName({ act, renderer, body, found }) {
        return renderer.record(await service.patch(act, found.fqon.id, body, renderer));
      },
      deleteOrganizationByName: ({ act, found, query }) =>
        service.remove(act, found.fqon.id, { ...query, deleteContainers: false }),
    }),
    ...answer(globalRows, {
      searchWorkspaces: (asked) => names(asked, view.all('workspaces')),
      searchEnvironments: (asked) => names(asked, view.all('environments')),
      listAllRules: ({ query: { type, ...query }, ...asked }) =>
        listAll({ ...asked, query: { ...query, filter: { ...query.filter, ...(type && { type }) } } }, 'rules'),
      listAllUsers: (asked) => listAll(asked, 'users'),
      /** The caller's own record, for which no right is needed. */
      readSelf({ caller: { userId }, renderer }) {
        const user = view.find(userId);
        if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
        return renderer.record(user);
      },
      searchUsers: (asked) => records(asked, view.all('users')),
      searchUsersOf: (asked) => records(asked, listFromAbove(view, asked.found.fqon, 'users')),
      searchGroups: (asked) => records(asked, view.all('groups')),
      searchGroupsOf: (asked) => records(asked, listFromAbove(view, asked.found.fqon, 'groups')),
    }),
  ];
}
