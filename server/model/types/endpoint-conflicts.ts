import { PlatformError } from '../errors.ts';
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

/** Throws 409 when an endpoint of an API of that name, in whichever environment, already serves the route (D-061). */
export function demandFreeRoute(
  view: WorldView,
  apiName: string,
  endpoint: { id: Uuid; properties: JsonObject },
): void {
  for (const api of view.named('apis', apiName)) {
    for (const other of view.children(api.id, 'apiendpoints')) {
      if (other.id === endpoint.id || !isSameRoute(endpoint.properties, other.properties)) continue;
      const route = endpoint.properties.resource ?? strings(endpoint.properties.hosts).join(', ');
      throw new PlatformError(
        409,
        `endpoint '${other.name}' (${other.id}) of API '${apiName}' already serves ${route} with such a method`,
      );
    }
  }
}
