import { PlatformError } from '../model/errors.ts';
import type { StoredResource } from '../model/record.ts';
import type { ResourceService } from './resource-service.ts';
import type { Given } from './route-parts.ts';
import { wildcard } from './wildcard.ts';

/** What a search is by: of each attribute what is wanted, undefined where it is not asked for. */
type Criteria = Readonly<Record<string, string | undefined>>;

/** Searches by name and by a user's attributes (D-188, D-189), of what the caller may view. */
export function searches(service: ResourceService) {
  return {
    /** The names that begin so. */
    names({ act, query: { name: start } }: Given & { query: { name: string } }, among: readonly StoredResource[]) {
      const found = among.filter((one) => one.name.startsWith(start) && service.canView(act, one));
      return found.map(({ name }) => name);
    },
    /** The records that fit the one criterion that there is; throws 400 unless there is one. */
    records({ act, renderer, query }: Given & { query: Criteria }, among: readonly StoredResource[]) {
      const [criterion, ...more] = Object.entries(query).filter(([, wanted]) => wanted !== undefined);
      if (!criterion || more.length > 0) {
        throw new PlatformError(400, `search by exactly one of ${Object.keys(query).join(', ')}`);
      }
      const [name, wanted = ''] = criterion;
      const matches = wildcard(wanted);
      const found = among.filter((one) => {
        const value = attribute(one, name);
        return value !== undefined && matches(value) && service.canView(act, one);
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
