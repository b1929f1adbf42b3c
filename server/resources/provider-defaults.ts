import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../model/errors.ts';
import { defaultProviders, presentDefaults } from '../model/provider-defaults.ts';
import type { StoredResource } from '../model/record.ts';
import type { Act } from './act.ts';
import type { ResourceService } from './resource-service.ts';

export type ProviderDefaults = ReturnType<typeof providerDefaults>;

/** Creates the default providers that are missing (D-067, D-068). */
export function providerDefaults(service: ResourceService, gatewayUrl: () => string) {
  const { view } = service;
  const make = async (act: Act): Promise<StoredResource[]> => {
    const defaults = presentDefaults(view, gatewayUrl());
    for (const { wanted, found } of defaults) {
      if (!found || found.id === wanted.id || found.type === wanted.type) continue;
      throw new PlatformError(
        409,
        `provider '${wanted.name}' exists at root with another type, ${found.type}; rename it first`,
      );
    }
    const providers: StoredResource[] = [];
    for (const { wanted, found } of defaults) {
      const { id, name, type, properties } = wanted;
      const body = { id, name, resource_type: `Platform::${type}`, properties };
      providers.push(found ?? (await service.create(act, view.root.id, 'providers', body)));
    }
    return providers.flatMap(({ id }) => view.find(id) ?? []);
  };
  let underWay: Promise<StoredResource[]> | undefined;
  return {
    /**
     * Recognises each default by its id, or by name and type; creates the others. When a name is taken by a provider of
     * another type nothing is created: 409. Whoever asks while it is under way gets the same answer.
     *
     * @returns all defaults, old and new
     */
    initialize(act: Act): Promise<StoredResource[]> {
      underWay ??= make(act).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    /** Lets the default gateway's public host follow the gateway's address, as long as nobody patched that provider. */
    async followGateway(act: Act): Promise<void> {
      for (const { id, properties } of defaultProviders(gatewayUrl())) {
        const stored = view.find(id);
        const { config } = properties;
        if (stored?.modified.action !== 'create' || isDeepStrictEqual(stored.properties.config, config)) continue;
        const followed = { ...stored.properties, ...(config !== undefined && { config }) };
        await service.commit(act, 'provider.update', [{ ...stored, properties: followed }]);
      }
    },
  };
}
