import type { Uuid } from './ids.ts';
import type { StoredResource } from './record.ts';
import type { WorldView } from './world-view.ts';

export const ORGANIZATION = 'Resource::Organization';
export const WORKSPACE = 'Resource::Workspace';
export const ENVIRONMENT = 'Resource::Environment';

/** A resource and all above it, nearest first, root organization last. */
export function* lineage(view: WorldView, resource: StoredResource): Generator<StoredResource> {
  for (let at: StoredResource | undefined = resource; at; at = at.parent ? view.find(at.parent) : undefined) yield at;
}

/** The nearest resource of a type at or above the given one, if there is one. */
export function enclosing(view: WorldView, resource: StoredResource, type: string): StoredResource | undefined {
  for (const at of lineage(view, resource)) if (at.type === type) return at;
  return undefined;
}

/** The organization that owns a resource (D-023): for an organization its parent, for root itself. */
export function owningOrganization(view: WorldView, resource: StoredResource): StoredResource {
  const above = resource.parent ? view.find(resource.parent) : resource;
  return (above && enclosing(view, above, ORGANIZATION)) ?? view.root;
}

/** Does it belong to the organization of a place, or to one above that (D-065, D-170, D-189)? */
export function isNear(view: WorldView, resource: StoredResource, place: StoredResource): boolean {
  const owner = owningOrganization(view, resource).id;
  return [...lineage(view, place)].some(({ id }) => id === owner);
}

/** The fully qualified name of an organization (D-040): `root`, `child`, `child.grandchild`. */
export function fqonOf(view: WorldView, organization: StoredResource): string {
  const names: string[] = [];
  for (const at of lineage(view, organization)) if (at.parent) names.unshift(at.name);
  return names.join('.') || 'root';
}

/** The organization of that fqon, or undefined. */
export function findOrganization(view: WorldView, fqon: string): StoredResource | undefined {
  if (fqon === 'root') return view.root;
  let at: StoredResource | undefined = view.root;
  for (const name of fqon.split('.')) at = at && view.named('orgs', name, at.id)[0];
  return at;
}

/** All organizations below one, at any depth (D-186). */
export function subOrganizations(view: WorldView, organization: StoredResource): StoredResource[] {
  return view.children(organization.id, 'orgs').flatMap((child) => [child, ...subOrganizations(view, child)]);
}

/** Everything below a resource, at any depth, each after what it is below. */
export function* allBelow(view: WorldView, id: Uuid): Generator<StoredResource> {
  for (const child of view.children(id)) {
    yield child;
    yield* allBelow(view, child.id);
  }
}

/** Environment variables as a resource sees them: organizations from root down, workspace, environment, itself; the nearest wins (D-111). */
export function mergedEnv(view: WorldView, resource: StoredResource): Record<string, string> {
  const levels = [...lineage(view, resource)].reverse();
  return Object.assign({}, ...levels.map((level) => level.properties.env ?? {}));
}
