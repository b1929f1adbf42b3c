import { globalRoutes, organizationRoutes } from '../../api/routes/meta-global.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import type { StoredResource } from '../../model/record.ts';
import { matchesStars } from '../../model/star-pattern.ts';
import { listFromAbove } from './lists.ts';
import type { ResourceService } from './resource-service.ts';
import { created, type Given, type ResourceRouteParts } from './route-parts.ts';
import { type Listing, list, read } from './selection.ts';

/** Searches by name and by a user's attributes (D-188, D-189), of what the caller may view. */
function searches(service: ResourceService) {
  return {
    names({ actor, query: { name: start } }: Given & { query: { name: string } }, among: readonly StoredResource[]) {
      const found = among.filter((one) => one.name.startsWith(start) && service.canView(actor, one));
      return found.map(({ name }) => name);
    },
    /** The records that fit the one criterion that there is, in which `*` is any text; throws 400 unless there is one. */
    records(
      { actor, renderer, query }: Given & { query: Readonly<Record<string, string | undefined>> },
      among: readonly StoredResource[],
    ) {
      const [criterion, ...more] = Object.entries(query).filter(([, wanted]) => wanted !== undefined);
      if (!criterion || more.length > 0) {
        throw new PlatformError('invalid_query', `search by exactly one of ${Object.keys(query).join(', ')}`);
      }
      const [name, wanted = ''] = criterion;
      const found = among.filter((one) => {
        const value = attribute(one, name);
        return value !== undefined && matchesStars(wanted, value) && service.canView(actor, one);
      });
      return found.map((one) => renderer.record(one));
    },
  };
}

function attribute(resource: StoredResource, name: string): string | undefined {
  if (name === 'name' || name === 'username') return resource.name;
  const value = resource.properties[name];
  return typeof value === 'string' ? value : undefined;
}

/** Routes of the platform as a whole, and of organizations by name (D-005, D-015, D-016, D-188, D-189). */
export function globalRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;
  const { names, records } = searches(service);
  const listAll = (asked: Listing, word: 'orgs' | 'users' | 'rules') => list(service, asked, view.all(word), word);
  return [
    ...answer(organizationRoutes, {
      listAllOrganizations: (asked) => listAll(asked, 'orgs'),
      createTopOrganization: async ({ actor, body, ...asked }) =>
        created(await service.create(actor, view.root.id, 'orgs', body), asked),
      searchOrganizations: (asked) => names(asked, view.all('orgs')),
      readOrganizationByName: (asked) => read(asked, asked.found.fqon),
      createSubOrganization: async ({ actor, body, found, ...asked }) =>
        created(await service.create(actor, found.fqon.id, 'orgs', body), asked),
      async patchOrganizationByName({ actor, renderer, body, found }) {
        return renderer.record(await service.patch(actor, found.fqon.id, body, renderer));
      },
      deleteOrganizationByName: ({ actor, found, query }) =>
        service.remove(actor, found.fqon.id, { ...query, deleteContainers: false }),
    }),
    ...answer(globalRoutes, {
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
