import { singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import type { StoredResource } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { listFromAbove } from './lists.ts';
import { ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { wildcard } from './wildcard.ts';

const USER_CRITERIA = ['name', 'email', 'phoneNumber'];

/** Searches by name and by a user's attributes (D-188, D-189). */
export function searchRoutes(service: ResourceService): Route[] {
  const { view } = service;

  const namesStartingWith = (word: TypeWord): Route => ({
    verb: 'get',
    path: `/${word}/search`,
    handle: (request) => {
      const start = singleParameter(request.query, 'name');
      if (start === undefined) throw new PlatformError(400, "query parameter 'name' is required");
      const found = view.all(word).filter((one) => one.name.startsWith(start) && service.canView(request.act, one));
      return ok(found.map((one) => one.name));
    },
  });

  const search = (request: ResourceRequest, candidates: readonly StoredResource[], known: readonly string[]) => {
    const given = known.filter((name) => request.query.has(name));
    const [name] = given;
    if (name === undefined || given.length > 1) {
      throw new PlatformError(400, `search by exactly one of ${known.join(', ')}`);
    }
    const matches = wildcard(singleParameter(request.query, name) ?? '');
    const found = candidates.filter((one) => {
      const value = attribute(one, name);
      return value !== undefined && matches(value) && service.canView(request.act, one);
    });
    return ok(found.map((one) => request.renderer.record(one)));
  };
  return [
    namesStartingWith('orgs'),
    namesStartingWith('workspaces'),
    namesStartingWith('environments'),
    { verb: 'get', path: '/users/search', handle: (request) => search(request, view.all('users'), USER_CRITERIA) },
    { verb: 'get', path: '/groups/search', handle: (request) => search(request, view.all('groups'), ['name']) },
    {
      verb: 'get',
      path: '/:fqon/users/search',
      handle: (request) =>
        search(request, listFromAbove(view, request.organization(), 'users'), [...USER_CRITERIA, 'username']),
    },
    {
      verb: 'get',
      path: '/:fqon/groups/search',
      handle: (request) => search(request, listFromAbove(view, request.organization(), 'groups'), ['name']),
    },
  ];
}

function attribute(resource: StoredResource, name: string): string | undefined {
  if (name === 'name' || name === 'username') return resource.name;
  const value = resource.properties[name];
  return typeof value === 'string' ? value : undefined;
}
