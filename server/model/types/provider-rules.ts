import { PlatformError } from '../errors.ts';
import { elementsOf, idIn, memberOf } from '../json.ts';
import type { StoredResource, Uuid, WorldView } from '../record.ts';
import type { Draft, WriteContext } from '../resource-type.ts';
import { ancestors, closestAncestor, ENVIRONMENT } from '../rules/hierarchy.ts';
import { isKindOf, PROVIDER } from '../type-names.ts';

export function providerIdOf(record: Pick<StoredResource, 'properties'>): Uuid | undefined {
  return idIn(record.properties.provider);
}

export function getProvider(view: WorldView, id: Uuid): StoredResource {
  const found = view.find(id);
  if (!found || !isKindOf(found.type, PROVIDER)) throw new PlatformError('not_found', `provider ${id} not found`);
  return found;
}

/** Throws 400 unless the provider is of that kind, 409 unless it fits the environment. An unchanged one is accepted (D-096). */
export function requireProvider(
  draft: Pick<Draft, 'properties'>,
  { view, parent, previous }: WriteContext,
  kind: string,
  isOfKind: (type: string) => boolean,
): void {
  const id = providerIdOf(draft);
  const provider = id === undefined || (previous && providerIdOf(previous) === id) ? undefined : view.find(id);
  if (!provider) return;
  const { name, type } = provider;
  if (!isOfKind(type))
    throw new PlatformError('invalid_body', `provider '${name}' has type ${type}, which is not ${kind}`);
  requireFit(view, provider, parent);
}

/** Throws 409 if the provider is incompatible with the environment of a resource, if it has one (D-054). */
export function requireFit(view: WorldView, provider: StoredResource, parent: StoredResource): void {
  const environment = closestAncestor(view, parent, ENVIRONMENT);
  if (environment) requireServes(provider, environment.properties.environment_type);
}

/** Throws 409 unless the provider serves environments of that type (D-044, D-054). A `system` environment accepts every provider. */
export function requireServes(
  provider: StoredResource,
  environmentType: unknown,
  pointer = '/properties/provider/id',
): void {
  const served = provider.properties.environment_types;
  if (environmentType === 'system' || !Array.isArray(served) || served.length === 0) return;
  if (served.some((type) => type === environmentType)) return;
  const message = `provider '${provider.name}' serves environments of type ${served.join(', ')}, not ${String(environmentType)}`;
  throw new PlatformError('environment_mismatch', 'Incompatible Environment type', { details: [{ pointer, message }] });
}

/** Providers of a kind that a resource can use: those of its organization, then of the organizations above, nearest first (D-065). */
export function* visibleProviders(
  view: WorldView,
  from: StoredResource,
  accepts: (type: string) => boolean,
): Generator<StoredResource> {
  for (const at of ancestors(view, from)) {
    for (const provider of view.children(at.id, 'providers')) if (accepts(provider.type)) yield provider;
  }
}

export function isContainerEngine(type: string): boolean {
  return isKindOf(type, 'Configuration::Provider::CaaS');
}

/** Can the provider run lambdas? Executors alone cannot. */
export function isLambdaProvider(type: string): boolean {
  return (
    isKindOf(type, 'Configuration::Provider::Lambda') && !isKindOf(type, 'Configuration::Provider::Lambda::Executor')
  );
}

export function isGatewayManager(type: string): boolean {
  return isKindOf(type, 'Configuration::Provider::GatewayManager');
}

export function isGateway(type: string): boolean {
  return type === 'Configuration::Provider::Kong';
}

export function linkedProviderIds(record: Pick<StoredResource, 'properties'>): Uuid[] {
  return elementsOf(memberOf(record.properties, 'linked_providers')).flatMap((link) => idIn(link) ?? []);
}

export function endpointsOf(record: StoredResource, view: WorldView): StoredResource[] {
  return view.referrers(record.id).filter(({ properties }) => properties.implementation_id === record.id);
}

/** The provider of a record, as a list of at most one (D-037). */
export function embeddedProvider(record: StoredResource, view: WorldView): StoredResource[] {
  const found = view.find(providerIdOf(record) ?? '');
  return found ? [found] : [];
}
