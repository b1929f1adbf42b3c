import { idIn, type Json, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import type { WorldView } from '../world-view.ts';
import { isGateway, isGatewayManager, linkedProviderIds, providerIdOf, visibleProviders } from './provider-rules.ts';

/** The id of the gateway that an API names, as sent; its `locations[0]`. */
export function locationOf(api: StoredResource): Json | undefined {
  const locations = memberOf(api.properties.provider, 'locations');
  return Array.isArray(locations) ? locations[0] : undefined;
}

/** The gateway that publishes an API: the one it names, else by the effective defaults of D-058. */
function findGateway(view: WorldView, api: StoredResource): StoredResource | undefined {
  const location = locationOf(api);
  if (location !== undefined) {
    const named = view.find(idIn({ id: location }) ?? '');
    return named && isGateway(named.type) ? named : undefined;
  }
  const managerId = providerIdOf(api);
  const manager = managerId ? view.find(managerId) : visibleProviders(view, api, isGatewayManager).next().value;
  const linked = manager ? linkedProviderIds(manager) : [];
  return (
    linked.flatMap((id) => view.find(id) ?? []).find(({ type }) => isGateway(type)) ??
    visibleProviders(view, api, isGateway).next().value ??
    undefined
  );
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The address under which an endpoint is published (D-150): by its first host, else by its API's gateway, else by
 * `{gateway_url}`.
 *
 * @param gatewayUrl `{gateway_url}`, e.g. `http://127.0.0.1:4701`
 */
export function publicUrlOf(view: WorldView, endpoint: StoredResource, gatewayUrl: string): string {
  const api = endpoint.parent === null ? undefined : view.find(endpoint.parent);
  const config = (api && findGateway(view, api))?.properties.config;
  const own = gatewayUrl.replace(/\/+$/, '');
  const protocol = textOf(memberOf(config, 'external_protocol')) ?? own.slice(0, own.indexOf(':'));
  const { resource, hosts } = endpoint.properties;
  const host = Array.isArray(hosts) ? textOf(hosts[0]) : undefined;
  if (host !== undefined && resource === undefined) return `${protocol}://${host}`;
  const vhost = host ?? textOf(memberOf(memberOf(memberOf(config, 'env'), 'public'), 'PUBLIC_URL_VHOST_0'));
  const base = vhost === undefined ? own : `${protocol}://${vhost}`;
  return `${base}/${api?.name ?? ''}${textOf(resource) ?? ''}`;
}
