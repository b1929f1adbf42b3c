import { z } from 'zod';
import type { StoredResource } from '../model/record.ts';
import type { EngineSource } from './attached-engine.ts';
import { type AddressOptions, type DockerAddress, dockerAddress } from './docker/docker-address.ts';
import type { WorldMark } from './docker/labels.ts';
import { EngineUnreachable } from './engine-errors.ts';

const SWARM = 'Configuration::Provider::CaaS::Swarm';

/** What a provider's `config` may say of its engine; the rest is stored only. */
const engineConfig = z.looseObject({
  url: z.string().optional().catch(undefined),
  tls: z
    .looseObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional()
    .catch(undefined),
});

export interface OpenEngineOptions extends Omit<AddressOptions, 'tls'> {
  world: WorldMark;
  /** `auto` for what the docker command would use, `none`, or an address; a provider's own `config.url` wins. */
  engine: string;
}

/** What tells one engine from another: two providers with the same key share a connection. */
export function engineKey(provider: StoredResource): string {
  const { url, tls } = engineConfig.parse(Object(provider.properties.config));
  return JSON.stringify([provider.type === SWARM, url, tls]);
}

/** Where the engine is that runs a provider's containers (D-082). What speaks to it is loaded when it is opened. */
export function openEngine(provider: StoredResource, options: OpenEngineOptions): EngineSource {
  const { url, tls } = engineConfig.parse(Object(provider.properties.config));
  if (url === undefined && options.engine === 'none') {
    const advice = 'set it to auto or to an address';
    return {
      address: 'none',
      absence: `no container engine is attached: the setting containers.engine is none; ${advice}`,
      isOff: true,
    };
  }
  let address: DockerAddress;
  try {
    const wanted = url ?? (options.engine === 'auto' ? undefined : options.engine);
    address = dockerAddress(wanted, { ...options, ...(tls && { tls }) });
  } catch (failure) {
    if (failure instanceof EngineUnreachable)
      return { address: url ?? options.engine, absence: failure.message, isOff: false };
    throw failure;
  }
  return {
    address: address.url,
    async open() {
      if (provider.type === SWARM) {
        const [{ DockerConnection }, { SwarmEngine }] = await Promise.all([
          import('./docker/docker-connection.ts'),
          import('./swarm/swarm-engine.ts'),
        ]);
        return new SwarmEngine({ ...options.world, connection: new DockerConnection(address) });
      }
      const [{ DockerConnection }, { DockerEngine }] = await Promise.all([
        import('./docker/docker-connection.ts'),
        import('./docker/docker-engine.ts'),
      ]);
      return new DockerEngine({ ...options.world, connection: new DockerConnection(address) });
    },
  };
}
