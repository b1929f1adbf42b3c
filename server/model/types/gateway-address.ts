import { idIn, type Json, memberOf } from '../json.ts';
import type { StoredResource, WorldView } from '../record.ts';
import { isGateway, isGatewayManager, linkedProviderIds, providerIdOf, visibleProviders } from './provider-rules.ts';

/** The id of the gateway of an API as the client sent it: `locations[0]`. */
export function locationOf(api: StoredResource): Json | undefined {
  const locations = memberOf(api.properties.provider, 'locations');
  return Array.isArray(locations) ? locations[0] : undefined;
}

/** The gateway that publishes an API: its explicit gateway, otherwise the default of D-058. */
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

/** The address of an endpoint (D-150), from its first host, the gateway of its API or `{gateway_url}`, in this order. */
export function publicUrlOf(view: WorldView, endpoint: StoredResource, gatewayUrl: string): string {
  const api = endpoint.parent === null ? undefined : view.find(endpoint.parent);
  const config = (api && findGateway(view, api))?.properties.config;
  const defaultUrl = gatewayUrl.replace(/\/+$/, '');
  const protocol = textOf(memberOf(config, 'external_protocol')) ?? defaultUrl.slice(0, defaultUrl.indexOf(':'));
  const { resource, hosts } = endpoint.properties;
  const host = Array.isArray(hosts) ? textOf(hosts[0]) : undefined;
  if (host !== undefined && resource === undefined) return `${protocol}://${host}`;
  const vhost = host ?? textOf(memberOf(memberOf(memberOf(config, 'env'), 'public'), 'PUBLIC_URL_VHOST_0'));
  const base = vhost === undefined ? defaultUrl : `${protocol}://${vhost}`;
  return `${base}/${api?.name ?? ''}${textOf(resource) ?? ''}`;
}
