import type { StoredResource, Uuid, WorldView } from '../record.ts';

export const ORGANIZATION = 'Resource::Organization';
export const WORKSPACE = 'Resource::Workspace';
export const ENVIRONMENT = 'Resource::Environment';

/** A resource and its ancestors, nearest first, root organization last. */
export function* ancestors(view: WorldView, resource: StoredResource): Generator<StoredResource> {
  for (let at: StoredResource | undefined = resource; at; at = at.parent ? view.find(at.parent) : undefined) yield at;
}

export function closestAncestor(view: WorldView, resource: StoredResource, type: string): StoredResource | undefined {
  for (const at of ancestors(view, resource)) if (at.type === type) return at;
  return undefined;
}

/** The organization that owns a resource (D-023): for an organization its parent, for root itself. */
export function owningOrganization(view: WorldView, resource: StoredResource): StoredResource {
  const above = resource.parent ? view.find(resource.parent) : resource;
  return (above && closestAncestor(view, above, ORGANIZATION)) ?? view.root;
}

/** Is its organization the one of a resource or an organization above it (D-065, D-170, D-189)? */
export function isNear(view: WorldView, resource: StoredResource, location: StoredResource): boolean {
  const owner = owningOrganization(view, resource).id;
  return [...ancestors(view, location)].some(({ id }) => id === owner);
}

/** The fully qualified name of an organization (D-040): `root`, `child`, `child.grandchild`. */
export function fqonOf(view: WorldView, organization: StoredResource): string {
  const names: string[] = [];
  for (const at of ancestors(view, organization)) if (at.parent) names.unshift(at.name);
  return names.join('.') || 'root';
}

export function findOrganization(view: WorldView, fqon: string): StoredResource | undefined {
  if (fqon === 'root') return view.root;
  let at: StoredResource | undefined = view.root;
  for (const name of fqon.split('.')) at = at && view.named('orgs', name, at.id)[0];
  return at;
}

export function subOrganizations(view: WorldView, organization: StoredResource): StoredResource[] {
  return view.children(organization.id, 'orgs').flatMap((child) => [child, ...subOrganizations(view, child)]);
}

export function* allBelow(view: WorldView, id: Uuid): Generator<StoredResource> {
  for (const child of view.children(id)) {
    yield child;
    yield* allBelow(view, child.id);
  }
}

/** Merged from root down: organizations, workspace, environment, itself; the nearest definition applies (D-111). */
export function mergedEnv(view: WorldView, resource: StoredResource): Record<string, string> {
  const levels = [...ancestors(view, resource)].reverse();
  return Object.assign({}, ...levels.map((level) => level.properties.env ?? {}));
}

export function scopeOf(view: WorldView, scope: Uuid | undefined): (id: Uuid | undefined) => boolean {
  if (scope === undefined) return () => true;
  return (id) => {
    let at = id === undefined ? undefined : view.find(id);
    while (at && at.id !== scope) at = at.parent ? view.find(at.parent) : undefined;
    return at !== undefined;
  };
}
