import type { InstanceStats } from '../engine.ts';
import { EngineRefusal } from '../engine-errors.ts';
import type { DockerConnection } from './docker-connection.ts';

/** What an instance uses: the daemon measures for about a second. Throws EngineRefusal `missing` when it no longer runs. */
export async function readStats(connection: DockerConnection, instanceId: string): Promise<InstanceStats> {
  const measured = await connection.ask((docker) => docker.getContainer(instanceId).stats({ stream: false }));
  // Of one that has ended the daemon measures nothing, in the year 1; of one that ends meanwhile it says nothing at all.
  if (!(Date.parse(measured.read) > 0)) {
    throw new EngineRefusal('missing', `instance ${instanceId} does not run: nothing of it can be measured`);
  }
  const { cpu_stats: now, precpu_stats: before, memory_stats: memory, networks } = measured;
  const used = now.cpu_usage.total_usage - (before.cpu_usage?.total_usage ?? 0);
  const passed = (now.system_cpu_usage ?? 0) - (before.system_cpu_usage ?? 0);
  // Caches are given back when memory is needed; docker's own command leaves them out, too.
  const cache = Object(memory.stats).total_inactive_file ?? Object(memory.stats).inactive_file ?? 0;
  const traffic = Object.values(networks ?? {});
  return {
    cpus: passed > 0 ? (used / passed) * (now.online_cpus ?? 1) : 0,
    memoryBytes: Math.max(0, (memory.usage ?? 0) - cache),
    memoryLimitBytes: memory.limit ?? 0,
    receivedBytes: traffic.reduce((sum, one) => sum + one.rx_bytes, 0),
    sentBytes: traffic.reduce((sum, one) => sum + one.tx_bytes, 0),
  };
}
