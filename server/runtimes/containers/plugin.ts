import { ContainerProxy } from '../../gateway/container-proxy.ts';
import { containerProxies } from '../../gateway/plugin.ts';
import { ServicePorts } from '../../gateway/service-ports.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { portNameOf, toPortMappingsView } from '../../model/types/port-mappings.ts';
import { event, plugin } from '../../plugin/plugin.ts';
import { resourceChanged } from '../../plugin/tokens.ts';
import { containerStatuses } from '../../services/resources/plugin.ts';
import { homeFolder } from '../../system/nearest-folder.ts';
import { ownerHere } from '../../system/owner.ts';
import { ContainerOperations } from './container-operations.ts';
import { type ContainerNews, ContainerService } from './container-service.ts';
import { containers } from './declaration.ts';
import type { EngineView } from './engines.ts';

export const engineChanged = event<Extract<ContainerNews, { kind: 'engine' }>>('engine changed');

/** The engines get the same time as the service. */
const STOP_TIMEOUT_MS = 60_000;

/** Runs containers, and what leads to them: the gateway's proxy and service ports, which drain an instance before it goes. */
export const containersPlugin = plugin({
  declaration: containers,
  async start(platform) {
    const { config, logs, store, folder, steadyMs, warn, onFault } = platform;
    const nowMs = Date.now; // engines have the machine's time
    const { view } = store;
    const { engine, onStop, drainTimeoutS, stopTimeoutS: stopSeconds } = config.containers;
    const drainMs = drainTimeoutS * 1_000;
    const world = { worldId: store.world.id, owner: await ownerHere(folder) };
    const service = new ContainerService({
      view,
      nowMs,
      opening: { world, engine, stopSeconds, env: process.env, homeDir: homeFolder() },
      notesOn: (record) => portNotesOn(record, ports),
      drain: async (instanceId) => {
        await Promise.all([proxy.drain(instanceId, drainMs), ports.drain(instanceId, drainMs)]);
      },
      onNews(update) {
        if (update.kind === 'engine') platform.emit(engineChanged, update);
        platform.publish(update.kind === 'engine' ? 'status' : 'containers', { ...update });
      },
      onWarning: warn,
      onFault,
    });
    const proxy = new ContainerProxy({ directory: service, steadyMs });
    const ports: ServicePorts = new ServicePorts({
      ...{ view, directory: service, host: config.host, steadyMs, onWarning: warn },
      ports: logs['service-ports'],
    });
    const operations = new ContainerOperations(service, { view, nowMs });
    platform.fill(containerProxies, proxy);
    platform.fill(containerStatuses, {
      status: (record) => ({ ...service.status(record), ...servicePortsOf(record, ports) }),
      confirmed: (record) => service.confirmed(record),
      requireEngine: (providerId, purpose) => operations.requireEngine(providerId, purpose),
      whenRunning: (id, timeoutMs) => service.whenRunning(id, timeoutMs),
    });
    platform.status(() => statusOf(operations.engines()));
    for (const collection of ['containers', 'jobs', 'providers'] as const)
      platform.on(resourceChanged(collection), (change) => service.changed(change));
    platform.on(resourceChanged('containers'), (change) => ports.changed(change));
    platform.onReady(async () => {
      service.start();
      await ports.start();
    });
    platform.onStop(async () => {
      await ports.stop();
      proxy.stop();
      // A world in memory ends with its process, so a later process could not find its containers.
      await service.stop(folder === undefined ? 'forget' : onStop);
    }, STOP_TIMEOUT_MS);
    return operations;
  },
});

function statusOf(engines: readonly EngineView[]): string {
  const away = engines.find(({ reason }) => reason !== undefined);
  if (away?.reason) return away.reason;
  if (engines.some(({ state }) => state === 'connecting')) return 'connecting';
  return engines.length === 0 ? 'no provider runs containers' : 'running';
}

/** The port mappings of a record with the ports of this machine that lead to them (D-047). */
function servicePortsOf(record: StoredResource, ports: ServicePorts): JsonObject {
  const mappings = toPortMappingsView(record);
  const servicePorts = mappings.map((mapping) => ports.portOf(record.id, portNameOf(mapping)));
  if (servicePorts.every((port) => port === undefined)) return {};
  const port_mappings = mappings.map((mapping, at) => ({
    ...mapping,
    ...(servicePorts[at] && { service_port: servicePorts[at] }),
  }));
  return { port_mappings };
}

function portNotesOn(record: StoredResource, ports: ServicePorts): string[] {
  return toPortMappingsView(record).flatMap((mapping) => {
    const { service_port: sentPort } = mapping;
    const name = portNameOf(mapping);
    const port = ports.portOf(record.id, name);
    if (!port || !sentPort || sentPort === port) return [];
    return [`port '${name}' has service_port ${port} and not ${sentPort}, because the platform chooses it`];
  });
}
