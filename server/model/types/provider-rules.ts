import { PlatformError } from '../errors.ts';
import { ENVIRONMENT, enclosing, lineage } from '../hierarchy.ts';
import type { Uuid } from '../ids.ts';
import { idIn, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import type { Draft, WriteContext } from '../resource-type.ts';
import { isKindOf, PROVIDER } from '../type-names.ts';
import type { WorldView } from '../world-view.ts';

/** The provider that a record names by `properties.provider.id`, if it names one. */
export function providerIdOf(record: Pick<StoredResource, 'properties'>): Uuid | undefined {
  return idIn(record.properties.provider);
}

/** The provider of that id; throws 404 when there is none. */
export function getProvider(view: WorldView, id: Uuid): StoredResource {
  const found = view.find(id);
  if (!found || !isKindOf(found.type, PROVIDER)) throw new PlatformError(404, `provider ${id} not found`);
  return found;
}

/** The provider of a draft, unless it was that of the record before: then it stays, whatever became of it since (D-096). */
export function newlyNamedProvider(
  draft: Pick<Draft, 'properties'>,
  { view, previous }: Pick<WriteContext, 'view' | 'previous'>,
): StoredResource | undefined {
  const id = providerIdOf(draft);
  return id === undefined || (previous && providerIdOf(previous) === id) ? undefined : view.find(id);
}

/** Does a provider serve environments of that type (D-054)? A `system` environment fits every provider. */
function serves(provider: Pick<StoredResource, 'properties'>, environmentType: unknown): boolean {
  const served = provider.properties.environment_types;
  if (environmentType === 'system' || !Array.isArray(served) || served.length === 0) return true;
  return served.some((type) => type === environmentType);
}

/** Throws 409 when a provider does not fit the environment that a resource is in, if it is in one (D-054). */
export function demandFit(view: WorldView, provider: StoredResource, parent: StoredResource): void {
  const environment = enclosing(view, parent, ENVIRONMENT);
  if (environment) demandServes(provider, environment.properties.environment_type);
}

/** Throws 409 unless the provider serves environments of that type (D-044, D-054). */
export function demandServes(
  provider: StoredResource,
  environmentType: unknown,
  pointer = '/properties/provider/id',
): void {
  if (serves(provider, environmentType)) return;
  const served = provider.properties.environment_types;
  const types = Array.isArray(served) ? served.join(', ') : '';
  const message = `provider '${provider.name}' serves environments of type ${types}, not ${String(environmentType)}`;
  throw new PlatformError(409, 'Incompatible Environment type', {
    details: [{ pointer, message }],
  });
}

/** Providers of a kind that can be seen from a resource: its own, then those of what is above it, nearest first (D-065). */
export function* visibleProviders(
  view: WorldView,
  from: StoredResource,
  accepts: (type: string) => boolean,
): Generator<StoredResource> {
  for (const at of lineage(view, from)) {
    for (const provider of view.children(at.id, 'providers')) if (accepts(provider.type)) yield provider;
  }
}

/** Is it a container engine? */
export function isContainerEngine(type: string): boolean {
  return isKindOf(type, 'Configuration::Provider::CaaS');
}

/** Does it run lambdas? Executors do not by themselves. */
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

/** Ids of the providers that a provider is linked to. */
export function linkedProviderIds(record: Pick<StoredResource, 'properties'>): Uuid[] {
  const linked = memberOf(record.properties, 'linked_providers');
  return Array.isArray(linked) ? linked.flatMap((one) => idIn(one) ?? []) : [];
}
