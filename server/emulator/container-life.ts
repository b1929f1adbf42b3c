import { homedir } from 'node:os';
import { type Config, IN_MEMORY } from '../config-schema.ts';
import { ContainerOperations } from '../containers/container-operations.ts';
import { type ContainerNews, ContainerService } from '../containers/container-service.ts';
import { ContainerProxy } from '../gateway/container-proxy.ts';
import type { InstanceDirectory } from '../gateway/instance-directory.ts';
import { ServicePorts } from '../gateway/service-ports.ts';
import type { Owner } from '../machine/owner.ts';
import type { Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { StoredResource } from '../model/record.ts';
import { portNameOf, presentPortMappings } from '../model/types/port-mappings.ts';
import type { WorldView } from '../model/world-view.ts';

import type { ContainerLife } from '../resources/core.ts';

/** How long requests under way at an instance that goes may still take. */
const DRAIN_MS = 10_000;

export interface ContainersOptions {
  view: WorldView;
  worldId: Uuid;
  /** Told to engines with all that is made there. */
  owner: Owner;
  config: Config;
  /** Where ports of the emulator's own are kept (D-047). */
  servicePorts: KeyedLog<{ port: number }>;
  nowMs(): number;
  onNews(news: ContainerNews): void;
  onWarning(message: string): void;
}

/** What runs containers, the gateway's way to them, and how both end. */
export type Containers = ReturnType<typeof createContainers>;

/** Wires containers and gateway, each of which needs the other: what serves, and what has to be drained before it goes. */
export function createContainers(options: ContainersOptions) {
  const { view, worldId, owner, config, servicePorts, nowMs, onNews, onWarning } = options;
  const { engine, onStop } = config.containers;
  const directory: InstanceDirectory = {
    serving: (id, portName) => service.serving(id, portName),
    whyNotServing: (id) => service.whyNotServing(id),
  };
  const proxy = new ContainerProxy({ directory, nowMs });
  const ports = new ServicePorts({ view, directory, host: config.host, ports: servicePorts, nowMs, onWarning });
  const service: ContainerService = new ContainerService({
    view,
    nowMs,
    opening: { world: { worldId, owner }, engine, env: process.env, homeDir: homedir() },
    drain: async (instanceId) => {
      await Promise.all([proxy.drain(instanceId, DRAIN_MS), ports.drain(instanceId, DRAIN_MS)]);
    },
    onNews,
    onWarning,
  });
  const operations = new ContainerOperations(service, { view, nowMs });
  // A world in memory is gone with its process: nobody would ever find again what it leaves behind.
  const what = config.data === IN_MEMORY ? 'forget' : onStop;
  const life: ContainerLife = {
    status: (record) => ({ ...service.status(record), ...servicePortsOf(record, ports) }),
    confirmed: (record) => service.confirmed(record),
    demandEngine: (providerId, purpose) => operations.demandEngine(providerId, purpose),
    whenRunning: (id, timeoutMs) => service.whenRunning(id, timeoutMs),
  };
  return {
    service,
    /** Where people ask of them. */
    operations,
    /** What records show, and moves wait for. */
    life,
    proxy,
    ports,
    /** Begins to run what the world asks for. */
    async start() {
      service.start();
      await ports.start();
    },
    async stop() {
      await ports.stop();
      proxy.stop();
      await service.stop(what);
    },
  };
}

/** The port mappings of a record with the ports of the emulator's own that lead to them (D-047). */
function servicePortsOf(record: StoredResource, ports: ServicePorts): JsonObject {
  const shown = presentPortMappings(record);
  const given = shown.map((mapping) => ports.portOf(record.id, portNameOf(mapping)));
  if (given.every((port) => port === undefined)) return {};
  const port_mappings = shown.map((mapping, at) => ({ ...mapping, ...(given[at] && { service_port: given[at] }) }));
  return { port_mappings };
}
