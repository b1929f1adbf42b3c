import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { isContainerEngine, providerIdOf } from '../../model/types/provider-rules.ts';
import { type AddressOptions, type DockerAddress, dockerAddress } from './docker/docker-address.ts';
import type { WorldMark } from './docker/labels.ts';
import { EngineConnection, type EngineListener, type EngineSource, type EngineState } from './engine-connection.ts';

const SWARM = 'Configuration::Provider::CaaS::Swarm';

/** The members of a provider's `config` that concern its engine; the rest is stored only. */
const engineConfig = z.looseObject({
  url: z.string().optional().catch(undefined),
  tls: z
    .looseObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional()
    .catch(undefined),
});

interface OpenEngineOptions extends Omit<AddressOptions, 'tls'> {
  world: WorldMark;
  /** `auto` for what the docker command would use, `none`, or an address; a provider's own `config.url` wins. */
  engine: string;
  /** Time that an instance has to end by itself after its stop signal. */
  stopSeconds: number;
}

const configOf = ({ properties }: StoredResource) => engineConfig.parse(Object(properties.config));

/** Returns the key that distinguishes one engine from another: two providers with the same key share a connection. */
function engineKey(provider: StoredResource): string {
  const { url, tls } = configOf(provider);
  return JSON.stringify([provider.type === SWARM, url, tls]);
}

/** Opens the engine that runs a provider's containers (D-082). The client of the engine is loaded when it is opened. */
function openEngine(provider: StoredResource, options: OpenEngineOptions): EngineSource {
  const { url, tls } = configOf(provider);
  if (url === undefined && options.engine === 'none') {
    const absence =
      'no container engine is attached: the setting containers.engine is none; set it to auto or to an address';
    return { address: 'none', absence, isOff: true };
  }
  let address: DockerAddress;
  try {
    const engineUrl = url ?? (options.engine === 'auto' ? undefined : options.engine);
    address = dockerAddress(engineUrl, { ...options, ...(tls && { tls }) });
  } catch (failure) {
    // Also for an error of another kind: one provider's address never keeps the platform from starting.
    return { address: url ?? options.engine, absence: reasonOf(failure), isOff: false };
  }
  return {
    address: address.url,
    async open() {
      const { DockerConnection } = await import('./docker/docker-connection.ts');
      const { stopSeconds } = options;
      const connection = new DockerConnection(address, { user: options });
      const world = { ...options.world, stopSeconds, connection };
      if (provider.type === SWARM) return new (await import('./swarm/swarm-engine.ts')).SwarmEngine(world);
      return new (await import('./docker/docker-engine.ts')).DockerEngine(world);
    },
  };
}

export interface EngineView {
  address: string;
  state: EngineState['kind'];
  version?: string;
  reason?: string;
  providers: string[];
}

export interface EnginesOptions {
  view: WorldView;
  opening: OpenEngineOptions;
  listener: EngineListener;
}

export class Engines {
  readonly #options: EnginesOptions;
  readonly #byKey = new Map<string, EngineConnection>();

  constructor(options: EnginesOptions) {
    this.#options = options;
  }

  connectionOf(provider: StoredResource): EngineConnection {
    const key = engineKey(provider);
    const { opening, listener } = this.#options;
    const connection = this.#byKey.get(key) ?? new EngineConnection(openEngine(provider, opening), listener);
    this.#byKey.set(key, connection);
    return connection;
  }

  find(record: StoredResource): EngineConnection | undefined {
    const provider = this.#options.view.find(providerIdOf(record) ?? '');
    return provider && this.connectionOf(provider);
  }

  all(): EngineConnection[] {
    return [...this.#byKey.values()];
  }

  views(): EngineView[] {
    return [...this.#byKey].map(([key, { address, state }]) => ({
      address,
      state: state.kind,
      ...(state.kind === 'ready' && { version: state.version }),
      ...('reason' in state && { reason: state.reason }),
      providers: this.#options.view
        .all('providers')
        .filter((provider) => isContainerEngine(provider.type) && engineKey(provider) === key)
        .map(({ name }) => name),
    }));
  }
}
