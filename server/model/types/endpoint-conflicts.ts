import { invalid, PlatformError } from '../errors.ts';
import { canonicalHost, isReservedHost } from '../host-names.ts';
import { elementsOf, type Json, type JsonObject } from '../json.ts';
import type { StoredResource, Uuid, WorldView } from '../record.ts';

function strings(list: Json | undefined): string[] {
  return elementsOf(list).filter((element) => typeof element === 'string');
}

/** Normalizes a resource path for comparison (D-151): decodes percent-encoding, ignores double and trailing slashes. */
function comparable(resource: Json | undefined): string | undefined {
  return typeof resource === 'string' ? decoded(resource).split('/').filter(Boolean).join('/') : undefined;
}

/** A stored path with invalid encoding, such as a bare percent sign, is compared as it is. */
export function decoded(resource: string): string {
  try {
    return decodeURIComponent(resource);
  } catch {
    return resource;
  }
}

/** True if two lists share an element, ignoring case. With `emptyMeansAll`, an empty list matches everything. */
function overlap(list: string[], otherList: string[], emptyMeansAll: boolean): boolean {
  if (emptyMeansAll && (list.length === 0 || otherList.length === 0)) return true;
  const lowerCaseTexts = new Set(list.map((text) => text.toLowerCase()));
  return otherList.some((text) => lowerCaseTexts.has(text.toLowerCase()));
}

function isSameRoute(endpoint: JsonObject, otherEndpoint: JsonObject): boolean {
  const path = comparable(endpoint.resource);
  return (
    path === comparable(otherEndpoint.resource) &&
    overlap(strings(endpoint.methods), strings(otherEndpoint.methods), true) &&
    (path !== undefined || overlap(hostsOf(endpoint), hostsOf(otherEndpoint), false))
  );
}

function hostsOf(properties: JsonObject): string[] {
  return strings(properties.hosts).map(canonicalHost);
}

const hostKey = (host: string) => `host ${host}`;
const routeKey = (apiId: Uuid | null, route: string) => `route ${apiId} ${route}`;

/** The keys of an endpoint (`ResourceType.keys`): each host, and in its API the path, or each host without one. */
export function endpointKeys({ parent, properties }: StoredResource): string[] {
  const path = comparable(properties.resource);
  const hosts = hostsOf(properties);
  return [...hosts.map(hostKey), ...routesOf(path, hosts).map((route) => routeKey(parent, route))];
}

function routesOf(path: string | undefined, hosts: readonly string[]): readonly string[] {
  return path === undefined ? hosts : [`/${path}`];
}

function pathsFrom(path: string): string[] {
  const segments = path.split('/').filter(Boolean);
  return [`/`, ...segments.map((_, at) => `/${segments.slice(0, at + 1).join('/')}`)];
}

/** Throws 400 for a host of the platform, 409 if an endpoint of another organization or an API of the same name has the route (D-061, D-151). */
export function requireFreeRoute(
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
      `'${host}' is a name of the platform itself; use another name below localhost`,
    );
  });
  const hosts = hostsOf(endpoint.properties);
  const path = comparable(endpoint.properties.resource);
  const sameApis = view.named('apis', api.name);
  for (const { id } of sameApis) {
    const candidates = routesOf(path, hosts).flatMap((route) => view.referrers(routeKey(id, route), 'apiendpoints'));
    for (const other of candidates) {
      if (other.id === endpoint.id || !isSameRoute(endpoint.properties, other.properties)) continue;
      const route = endpoint.properties.resource ?? strings(endpoint.properties.hosts).join(', ');
      throw new PlatformError(
        'route_taken',
        `endpoint '${other.name}' (${other.id}) of API '${api.name}' already serves ${route} with at least one of these methods`,
      );
    }
  }
  const foreign = (key: string) =>
    view.referrersOutside(api.orgId, key, 'apiendpoints').filter(({ id }) => id !== endpoint.id);
  const refuse = (subject: string) => {
    throw new PlatformError('route_taken', `${subject} of an endpoint of another organization. Choose another one.`);
  };
  for (const host of hosts) if (foreign(hostKey(host)).length > 0) refuse(`the host '${host}' is the host`);
  if (path === undefined) return;
  const isReached = ({ properties }: StoredResource) => hosts.length === 0 || hostsOf(properties).length === 0;
  for (const { id } of sameApis) {
    const isTaken = pathsFrom(path).some((above) => foreign(routeKey(id, above)).some(isReached));
    if (isTaken) refuse(`the path /${api.name}/${path && `${path}/`} is the same as or below the path`);
  }
}
