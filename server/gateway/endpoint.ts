import { BlockList, isIP } from 'node:net';
import type { z } from 'zod';
import { hostNameOf } from '../api/server/host-guard.ts';
import { PlatformError } from '../model/errors.ts';
import { canonicalHost } from '../model/host-names.ts';
import type { StoredResource, Uuid } from '../model/record.ts';
import { endpointProperties } from '../model/types/apiendpoint.ts';
import { decoded } from '../model/types/endpoint-conflicts.ts';
import { brandKeys, SECURITY_KEY, typed } from '../model/types/schema-parts.ts';
import { ANY_ORIGIN, type CorsPolicy } from './cors.ts';
import type { Route } from './route-table.ts';

/** An endpoint's `whitelist` (D-060) of addresses and CIDR ranges. An IPv4-mapped IPv6 address equals its IPv4 address. */
export class AddressList {
  readonly #list = new BlockList();

  /** @param entries such as `10.0.0.7`, `192.168.0.0/16`, `fd00::/8`; an invalid entry matches nothing */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry.trim());
  }

  #add(entry: string): void {
    const [address = '', bits] = entry.split('/', 2);
    const family = familyOf(address);
    if (!family) return;
    if (bits === undefined) this.#list.addAddress(address, family);
    else if (/^\d+$/.test(bits) && Number(bits) <= (family === 'ipv4' ? 32 : 128)) {
      this.#list.addSubnet(address, Number(bits), family);
    }
  }

  has(peer: string | undefined): boolean {
    const family = familyOf(peer ?? '');
    return family !== undefined && this.#list.check(peer ?? '', family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? 'ipv4' : 'ipv6';
}

type Properties = z.output<typeof endpointProperties>;
type Plugins = NonNullable<Properties['plugins']>;

export type EndpointTarget =
  | { kind: 'lambda'; id: Uuid; isSynchronous: boolean; isHttpAware: boolean }
  | { kind: 'container'; id: Uuid; portName: string };

export interface EndpointSecurity {
  users: ReadonlySet<Uuid>;
  groups: ReadonlySet<Uuid>;
}

/** An API endpoint prepared for request handling: contains everything that does not depend on the request. */
export interface Endpoint extends Route {
  readonly id: Uuid;
  readonly target: EndpointTarget;
  readonly cors: CorsPolicy | undefined;
  readonly whitelist: AddressList | undefined;
  /** Undefined: accessible without authentication. */
  readonly security: EndpointSecurity | undefined;
  readonly limit: RateLimit | undefined;
}

/** Prepares the record of an endpoint (D-060) for request handling. An unchanged rate limit of `previous` keeps its window (D-156). */
export function prepareEndpoint(record: StoredResource, apiName: string, previous?: Endpoint): Endpoint {
  const properties = typed(endpointProperties, record);
  const { plugins = {}, resource, methods = [], whitelist = [] } = properties;
  const hosts = (properties.hosts ?? []).map((host) => hostNameOf(host) ?? canonicalHost(host));
  return {
    id: record.id,
    hosts,
    prefix: resource === undefined && hosts.length > 0 ? [] : [apiName, ...resourceSegments(resource ?? '')],
    methods: methods.length > 0 ? new Set(methods.map((method) => method.toUpperCase())) : undefined,
    target: targetOf(properties, apiName),
    cors: corsOf(plugins.cors),
    whitelist: whitelist.length > 0 ? new AddressList(whitelist) : undefined,
    security: securityOf(plugins),
    limit: limitOf(plugins.rateLimit, previous?.limit),
  };
}

function targetOf(properties: Properties, apiName: string): EndpointTarget {
  const {
    implementation_type: type,
    container_port_name: portName = '',
    resource = '',
    is_http_aware: isHttpAware = false,
  } = properties;
  const id = properties.implementation_id.toLowerCase();
  if (type === 'container') return { kind: 'container', id, portName };
  const isAsyncRoute = apiName === 'api' && resourceSegments(resource).join('/') === 'async';
  return { kind: 'lambda', id, isSynchronous: properties.synchronous ?? !isAsyncRoute, isHttpAware };
}

function corsOf({ enabled, origins = [], credentials = false }: Plugins['cors'] = {}): CorsPolicy | undefined {
  if (enabled === false) return undefined;
  return origins.length === 0 || origins.includes('*') ? ANY_ORIGIN : { origins, allowsCredentials: credentials };
}

/** The key of the security plugin can have any brand (D-083). */
function securityOf(plugins: Plugins): EndpointSecurity | undefined {
  const [key] = brandKeys(plugins, SECURITY_KEY);
  // Each of these keys has the same schema.
  const plugin = key === undefined ? undefined : (plugins[key] as Plugins['platformSecurity']);
  if (!plugin?.enabled) return undefined;
  const lower = (ids: readonly Uuid[] = []) => new Set(ids.map((id) => id.toLowerCase()));
  return { users: lower(plugin.users), groups: lower(plugin.groups) };
}

/** Changing or re-enabling the limit starts a new window; any other change of the endpoint does not (D-156). */
function limitOf(plugin: Plugins['rateLimit'], previous: RateLimit | undefined): RateLimit | undefined {
  const { enabled, perMinute = 0 } = plugin ?? {};
  if (!enabled || perMinute < 1) return undefined;
  return previous?.perMinute === perMinute ? previous : new RateLimit(perMinute);
}

function resourceSegments(resource: string): string[] {
  return resource.split('/').filter(Boolean).map(decoded);
}

const WINDOW_MS = 60_000;

export interface LimitUse {
  perMinute: number;
  used: number;
  endsAtMs: number | undefined;
}

/** One endpoint's limit over all callers (D-155): calls in a window of 60 s that starts with its first counted call. */
export class RateLimit {
  readonly perMinute: number;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #counted = 0;

  constructor(perMinute: number) {
    this.perMinute = perMinute;
  }

  /** Counts a call at a time of a steady clock, in milliseconds. Throws 429 with Retry-After, without counting the call, if the limit is used up. */
  count(nowMs: number): void {
    if (!this.#isInWindow(nowMs)) {
      this.#windowStartMs = nowMs;
      this.#counted = 0;
    }
    if (this.#counted >= this.perMinute) {
      const seconds = Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
      throw new PlatformError('rate_limited', 'API rate limit exceeded', {
        headers: { 'Retry-After': String(seconds) },
      });
    }
    this.#counted++;
  }

  remaining(nowMs: number): number {
    return this.#isInWindow(nowMs) ? this.perMinute - this.#counted : this.perMinute;
  }

  use(nowMs: number): LimitUse {
    const { perMinute } = this;
    const endsAtMs = this.#isInWindow(nowMs) ? this.#windowStartMs + WINDOW_MS : undefined;
    return { perMinute, used: perMinute - this.remaining(nowMs), endsAtMs };
  }

  #isInWindow(nowMs: number): boolean {
    // The clock can have moved back (D-222).
    return nowMs >= this.#windowStartMs && nowMs < this.#windowStartMs + WINDOW_MS;
  }
}
