import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../model/errors.ts';
import { defaultProviders } from '../model/provider-defaults.ts';
import type { StoredResource } from '../model/record.ts';
import type { Act } from './act.ts';
import type { ResourceService } from './resource-service.ts';

/** Creates the default providers that are missing (D-067, D-068). */
export class ProviderDefaults {
  readonly #service: ResourceService;
  readonly #gatewayUrl: () => string;
  #underWay: Promise<StoredResource[]> | undefined;

  constructor(service: ResourceService, gatewayUrl: () => string) {
    this.#service = service;
    this.#gatewayUrl = gatewayUrl;
  }

  /**
   * Recognises each default by its id, or by name and type; creates the others. When a name is taken by a provider of
   * another type nothing is created: 409. Whoever asks while it is under way gets the same answer.
   *
   * @returns all defaults, old and new
   */
  initialize(act: Act): Promise<StoredResource[]> {
    this.#underWay ??= this.#initialize(act).finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #initialize(act: Act): Promise<StoredResource[]> {
    const { view } = this.#service;
    const present = (one: { id: string; name: string }) =>
      view.find(one.id) ?? view.named('providers', one.name, view.root.id)[0];
    const defaults = defaultProviders(this.#gatewayUrl(), (one) => present(one)?.id ?? one.id);
    for (const one of defaults) {
      const found = present(one);
      if (found && found.id !== one.id && found.type !== one.type) {
        throw new PlatformError(
          409,
          `provider '${one.name}' exists at root with another type, ${found.type}; rename it first`,
        );
      }
    }
    for (const one of defaults.filter((candidate) => !present(candidate))) {
      const { id, name, type, properties } = one;
      await this.#service.create(act, view.root.id, 'providers', {
        id,
        name,
        resource_type: `Platform::${type}`,
        properties,
      });
    }
    return defaults.flatMap((one) => present(one) ?? []);
  }

  /** Lets the default gateway's public host follow the gateway's address, as long as nobody patched that provider. */
  async followGateway(act: Act): Promise<void> {
    const { view } = this.#service;
    for (const { id, properties } of defaultProviders(this.#gatewayUrl())) {
      const stored = view.find(id);
      if (stored?.modified.action !== 'create' || isDeepStrictEqual(stored.properties.config, properties.config))
        continue;
      const { config } = properties;
      await this.#service.commit(act, 'provider.update', [
        { ...stored, properties: { ...stored.properties, ...(config !== undefined && { config }) } },
      ]);
    }
  }
}
