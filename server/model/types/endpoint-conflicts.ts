import { invalid, PlatformError } from '../errors.ts';
import { owningOrganization } from '../hierarchy.ts';
import { canonicalHost, isReservedHost } from '../host-names.ts';
import type { Uuid } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import type { WorldView } from '../world-view.ts';

function strings(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
}

/** A resource path as it is compared (D-151): percent-encoding decoded, slashes doubled or at the end without meaning. */
function comparable(resource: Json | undefined): string | undefined {
  return typeof resource === 'string' ? decodeURIComponent(resource).split('/').filter(Boolean).join('/') : undefined;
}

/** Do two lists share an element, letter case aside? An empty one shares with every other if it stands for all. */
function overlap(one: string[], other: string[], emptyMeansAll: boolean): boolean {
  if (emptyMeansAll && (one.length === 0 || other.length === 0)) return true;
  const known = new Set(one.map((text) => text.toLowerCase()));
  return other.some((text) => known.has(text.toLowerCase()));
}

function isSameRoute(one: JsonObject, other: JsonObject): boolean {
  const path = comparable(one.resource);
  return (
    path === comparable(other.resource) &&
    overlap(strings(one.methods), strings(other.methods), true) &&
    (path !== undefined || overlap(strings(one.hosts), strings(other.hosts), false))
  );
}

/** Names of hosts that an endpoint has, each in one spelling. */
function hostsOf(properties: JsonObject): string[] {
  return strings(properties.hosts).map(canonicalHost);
}

/** Segments of the public path, decoded; undefined for an endpoint that has whole hosts for itself. */
function publicPath(apiName: string, { resource }: JsonObject): string | undefined {
  const path = comparable(resource);
  return path === undefined ? undefined : `/${apiName}/${path === '' ? '' : `${path}/`}`;
}

/**
 * Throws 400 for a host that is the platform's own; 409 when the route is served already: by an endpoint of an API of that name, in
 * whichever environment (D-061), or, at or above its path or for its host, by one of another organization (D-151).
 *
 * @param previous the properties as they are stored: hosts that stay are no reason to refuse
 */
export function demandFreeRoute(
  { view, ownHosts }: { view: WorldView; ownHosts: ReadonlySet<string> },
  api: { name: string; orgId: Uuid },
  endpoint: { id: Uuid; properties: JsonObject },
  previous?: JsonObject,
): void {
  strings(endpoint.properties.hosts).forEach((host, at) => {
    const name = canonicalHost(host);
    if (!isReservedHost(name) && !ownHosts.has(name)) return;
    if (previous && hostsOf(previous).includes(name)) return;
    throw invalid(
      `/properties/hosts/${at}`,
      `is a name of the platform itself: '${host}'; other names below localhost are free`,
    );
  });
  for (const same of view.named('apis', api.name)) {
    for (const other of view.children(same.id, 'apiendpoints')) {
      if (other.id === endpoint.id || !isSameRoute(endpoint.properties, other.properties)) continue;
      const route = endpoint.properties.resource ?? strings(endpoint.properties.hosts).join(', ');
      throw new PlatformError(
        409,
        `endpoint '${other.name}' (${other.id}) of API '${api.name}' already serves ${route} with such a method`,
      );
    }
  }
  demandOwnGround(view, api, endpoint);
}

/** Throws 409 for a host or a path that another organization's endpoint has (D-151). */
function demandOwnGround(
  view: WorldView,
  api: { name: string; orgId: Uuid },
  endpoint: { id: Uuid; properties: JsonObject },
): void {
  const hosts = hostsOf(endpoint.properties);
  const path = publicPath(api.name, endpoint.properties);
  for (const other of view.all('apiendpoints')) {
    const otherApi = other.parent === null ? undefined : view.find(other.parent);
    if (other.id === endpoint.id || !otherApi) continue;
    const theirs = hostsOf(other.properties);
    const host = hosts.find((name) => theirs.includes(name));
    const isReached = host !== undefined || hosts.length === 0 || theirs.length === 0;
    const above = publicPath(otherApi.name, other.properties);
    const isBelow = isReached && path !== undefined && above !== undefined && path.startsWith(above);
    if ((host === undefined && !isBelow) || owningOrganization(view, otherApi).id === api.orgId) continue;
    const what = host === undefined ? `the path ${path} is at or below one` : `the host '${host}' is`;
    throw new PlatformError(409, `${what} of an endpoint of another organization: choose another`);
  }
}
