import { z } from 'zod';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { absentEngine } from './absent-engine.ts';
import { type AddressOptions, type DockerAddress, dockerAddress } from './docker/docker-address.ts';
import { DockerConnection } from './docker/docker-connection.ts';
import { DockerEngine } from './docker/docker-engine.ts';
import type { ContainerEngine } from './engine.ts';
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
  worldId: Uuid;
  /** `auto` for what the docker command would use, `none`, or an address; a provider's own `config.url` wins. */
  engine: string;
}

/** What tells one engine from another: two providers with the same key share a connection. */
export function engineKey(provider: StoredResource): string {
  const { url, tls } = engineConfig.parse(Object(provider.properties.config));
  return JSON.stringify([provider.type === SWARM, url, tls]);
}

/** The engine that runs a provider's containers (D-082). Connects on first use; an address that is none is told by every call. */
export function openEngine(provider: StoredResource, options: OpenEngineOptions): ContainerEngine {
  const { url, tls } = engineConfig.parse(Object(provider.properties.config));
  if (url === undefined && options.engine === 'none') {
    const reason =
      'no container engine is attached: the setting containers.engine is none; set it to auto or to an address';
    return absentEngine('none', reason);
  }
  let address: DockerAddress;
  try {
    const wanted = url ?? (options.engine === 'auto' ? undefined : options.engine);
    address = dockerAddress(wanted, { ...options, ...(tls && { tls }) });
  } catch (failure) {
    if (failure instanceof EngineUnreachable) return absentEngine(url ?? options.engine, failure.message);
    throw failure;
  }
  const connection = new DockerConnection(address);
  return new DockerEngine({ worldId: options.worldId, connection });
}
