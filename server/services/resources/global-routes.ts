import { globalRoutes, organizationRoutes } from '../../api/routes/meta-global.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import { matchesStars } from '../../model/matches-stars.ts';
import type { StoredResource } from '../../model/record.ts';
import { listFromAbove } from './lists.ts';
import type { ResourceService } from './resource-service.ts';
import { created, type ExtraInput, type ResourceRouteParts } from './route-parts.ts';
import { type Listing, list, read } from './selection.ts';

/** Searches by name and by a user's attributes (D-188, D-189), of what the caller may view. */
function searches(service: ResourceService) {
  return {
    names(
      { actor, query: { name: start } }: ExtraInput & { query: { name: string } },
      among: readonly StoredResource[],
    ) {
      const found = among.filter((candidate) => candidate.name.startsWith(start) && service.canView(actor, candidate));
      return found.map(({ name }) => name);
    },
    /** The records that fit the one criterion that there is, in which `*` is any text; throws 400 unless there is one. */
    records(
      { actor, renderer, query }: ExtraInput & { query: Readonly<Record<string, string | undefined>> },
      among: readonly StoredResource[],
    ) {
      const [criterion, ...more] = Object.entries(query).filter(([, pattern]) => pattern !== undefined);
      if (!criterion || more.length > 0) {
        throw new PlatformError('invalid_query', `search by exactly one of ${Object.keys(query).join(', ')}`);
      }
      const [name, pattern = ''] = criterion;
      const found = among.filter((candidate) => {
        const value = attribute(candidate, name);
        return value !== undefined && matchesStars(pattern, value) && service.canView(actor, candidate);
      });
      return found.map((record) => renderer.record(record));
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
  const listAll = (input: Listing, collection: 'orgs' | 'users' | 'rules') =>
    list(service, input, view.all(collection), collection);
  return [
    ...answer(organizationRoutes, {
      listAllOrganizations: (input) => listAll(input, 'orgs'),
      createTopOrganization: async ({ actor, body, ...input }) =>
        created(await service.create(actor, view.root.id, 'orgs', body), input),
      searchOrganizations: (input) => names(input, view.all('orgs')),
      readOrganizationByName: (input) => read(input, input.found.fqon),
      createSubOrganization: async ({ actor, body, found, ...input }) =>
        created(await service.create(actor, found.fqon.id, 'orgs', body), input),
      async patchOrganizationByName({ actor, renderer, body, found }) {
        return renderer.record(await service.patch(actor, found.fqon.id, body, renderer));
      },
      deleteOrganizationByName: ({ actor, found, query }) =>
        service.remove(actor, found.fqon.id, { ...query, deleteContainers: false }),
    }),
    ...answer(globalRoutes, {
      searchWorkspaces: (input) => names(input, view.all('workspaces')),
      searchEnvironments: (input) => names(input, view.all('environments')),
      listAllRules: ({ query: { type, ...query }, ...input }) =>
        listAll({ ...input, query: { ...query, filter: { ...query.filter, ...(type && { type }) } } }, 'rules'),
      listAllUsers: (input) => listAll(input, 'users'),
      /** The caller's own record, for which no right is needed. */
      readSelf({ caller: { userId }, renderer }) {
        const user = view.find(userId);
        if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
        return renderer.record(user);
      },
      searchUsers: (input) => records(input, view.all('users')),
      searchUsersOf: (input) => records(input, listFromAbove(view, input.found.fqon, 'users')),
      searchGroups: (input) => records(input, view.all('groups')),
      searchGroupsOf: (input) => records(input, listFromAbove(view, input.found.fqon, 'groups')),
    }),
  ];
}
