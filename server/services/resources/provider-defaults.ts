import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../../model/errors.ts';
import type { StoredResource } from '../../model/record.ts';
import { defaultProviders, toDefaultsView } from '../../model/rules/provider-defaults.ts';
import type { Actor } from './actor.ts';
import type { ResourceService } from './resource-service.ts';

export type ProviderDefaults = ReturnType<typeof providerDefaults>;

/** Creates the default providers that are missing (D-067, D-068). */
export function providerDefaults(service: ResourceService, gatewayUrl: () => string) {
  const { view } = service;
  const make = async (actor: Actor): Promise<StoredResource[]> => {
    const defaults = toDefaultsView(view, gatewayUrl());
    for (const { draft, found } of defaults) {
      if (!found || found.id === draft.id || found.type === draft.type) continue;
      throw new PlatformError(
        'name_taken',
        `provider '${draft.name}' exists at root with another type, ${found.type}; rename it first`,
      );
    }
    const providers: StoredResource[] = [];
    for (const { draft, found } of defaults) {
      const { id, name, type, properties } = draft;
      const body = { id, name, resource_type: `Platform::${type}`, properties };
      providers.push(found ?? (await service.create(actor, view.root.id, 'providers', body)));
    }
    return providers.flatMap(({ id }) => view.find(id) ?? []);
  };
  let underWay: Promise<StoredResource[]> | undefined;
  return {
    /** Knows each by id, or by name and type; creates the others. Throws 409 if another type has the name. Concurrent calls share a result. */
    initialize(actor: Actor): Promise<StoredResource[]> {
      underWay ??= make(actor).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    /** Updates the default gateway's public host to the gateway's address, unless that provider was patched. */
    async followGateway(actor: Actor): Promise<void> {
      for (const { id, properties } of defaultProviders(gatewayUrl())) {
        const stored = view.find(id);
        const { config } = properties;
        if (stored?.modified.action !== 'create' || isDeepStrictEqual(stored.properties.config, config)) continue;
        const followed = { ...stored.properties, ...(config !== undefined && { config }) };
        await service.commit(actor, 'provider.update', [{ ...stored, properties: followed }]);
      }
    },
  };
}
