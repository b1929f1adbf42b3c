import { hostNameOf } from '../http/host-guard.ts';
import type { Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { AddressList } from './address-list.ts';
import { ANY_ORIGIN, type CorsPolicy } from './cors.ts';
import { RateLimit } from './rate-limit.ts';
import type { Route } from './route-table.ts';

/** Where an endpoint leads. */
export type EndpointTarget =
  | { kind: 'lambda'; id: Uuid; isSynchronous: boolean; isHttpAware: boolean }
  | { kind: 'container'; id: Uuid; portName: string };

/** The callers that an endpoint's security plugin names (D-163). */
export interface EndpointSecurity {
  users: ReadonlySet<Uuid>;
  groups: ReadonlySet<Uuid>;
}

/** An API endpoint as the data path uses it: everything worked out that does not depend on the request. */
export interface Endpoint extends Route {
  readonly id: Uuid;
  readonly target: EndpointTarget;
  /** Undefined when switched off (D-158). */
  readonly cors: CorsPolicy | undefined;
  readonly whitelist: AddressList | undefined;
  /** Undefined: open to everyone. */
  readonly security: EndpointSecurity | undefined;
  readonly limit: RateLimit | undefined;
}

/**
 * Works an endpoint's record (D-060) out for the data path. Members of an unexpected kind count as absent: the record was
 * checked when it was written.
 *
 * @param apiName name of the API it belongs to: the first path segment (D-059)
 * @param previous the same endpoint before a change: an unchanged rate limit goes on with its window (D-156)
 */
export function prepareEndpoint(record: StoredResource, apiName: string, previous?: Endpoint): Endpoint {
  const { properties } = record;
  const plugins = memberOf(properties, 'plugins');
  const hosts = strings(properties.hosts).map((host) => hostNameOf(host) ?? host.toLowerCase());
  const resource = text(properties.resource);
  const methods = strings(properties.methods).map((method) => method.toUpperCase());
  const whitelist = strings(properties.whitelist);
  return {
    id: record.id,
    hosts,
    prefix: resource === undefined && hosts.length > 0 ? [] : [apiName, ...resourceSegments(resource ?? '')],
    methods: methods.length > 0 ? new Set(methods) : undefined,
    target: targetOf(properties, apiName),
    cors: corsOf(memberOf(plugins, 'cors')),
    whitelist: whitelist.length > 0 ? new AddressList(whitelist) : undefined,
    security: securityOf(plugins),
    limit: limitOf(memberOf(plugins, 'rateLimit'), previous?.limit),
  };
}

function targetOf(properties: JsonObject, apiName: string): EndpointTarget {
  const id = text(properties.implementation_id)?.toLowerCase() ?? '';
  if (properties.implementation_type === 'container') {
    return { kind: 'container', id, portName: text(properties.container_port_name) ?? '' };
  }
  const isAsyncRoute = apiName === 'api' && resourceSegments(text(properties.resource) ?? '').join('/') === 'async';
  const isSynchronous = flag(properties.synchronous) ?? !isAsyncRoute;
  return { kind: 'lambda', id, isSynchronous, isHttpAware: flag(properties.is_http_aware) ?? false };
}

function corsOf(plugin: Json | undefined): CorsPolicy | undefined {
  if (memberOf(plugin, 'enabled') === false) return undefined;
  const origins = strings(memberOf(plugin, 'origins'));
  if (origins.length === 0 || origins.includes('*')) return ANY_ORIGIN;
  return { origins, allowsCredentials: memberOf(plugin, 'credentials') === true };
}

/** The security plugin goes by any brand's key (D-083). */
function securityOf(plugins: Json | undefined): EndpointSecurity | undefined {
  if (!isJsonObject(plugins)) return undefined;
  const key = Object.keys(plugins).find((name) => /^[a-z]+Security$/.test(name));
  const plugin = key === undefined ? undefined : plugins[key];
  if (memberOf(plugin, 'enabled') !== true) return undefined;
  const ids = (name: string) => new Set(strings(memberOf(plugin, name)).map((id) => id.toLowerCase()));
  return { users: ids('users'), groups: ids('groups') };
}

/** Changing the limit or enabling it again starts a new window; any other change of the endpoint does not (D-156). */
function limitOf(plugin: Json | undefined, previous: RateLimit | undefined): RateLimit | undefined {
  const perMinute = memberOf(plugin, 'perMinute');
  if (memberOf(plugin, 'enabled') !== true || typeof perMinute !== 'number' || perMinute < 1) return undefined;
  return previous?.perMinute === perMinute ? previous : new RateLimit(perMinute);
}

function resourceSegments(resource: string): string[] {
  return resource.split('/').filter(Boolean).map(decoded);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a resource may hold a bare percent sign; it is then compared as it stands
  }
}

function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function flag(value: Json | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
