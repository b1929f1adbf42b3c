import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import type { Uuid } from '../../../model/record.ts';
import type { Mount, Workload } from '../engine.ts';
import { LABEL, labelsOf, marksOf, type WorldMark } from './labels.ts';

export const NANO = 1_000_000_000;
/** With the name before it still readable in `docker ps`. */
const MAX_NAME_LENGTH = 48;

/** Name of an environment's network; one per world, so that several emulators can share an engine. */
export function networkName(worldId: Uuid, environmentId: Uuid): string {
  return `terrarium-${worldId.slice(0, 8)}-${environmentId}`;
}

/** The request to the daemon that creates one instance of a workload (D-045, D-047, D-049). */
export function instanceDefinition(
  world: WorldMark,
  workload: Workload,
  bindAddress: string,
  /** CPUs of the engine's machine, if it reports them. */
  maxCpus = Number.POSITIVE_INFINITY,
): Docker.ContainerCreateOptions {
  const { ports, health } = workload;
  const network = networkName(world.worldId, workload.environmentId);
  return {
    name: `${workload.name.slice(0, MAX_NAME_LENGTH)}-${randomBytes(4).toString('hex')}`,
    Image: workload.image,
    ...(workload.entrypoint && { Entrypoint: [...workload.entrypoint] }),
    ...(workload.command && { Cmd: [...workload.command] }),
    ...(workload.user !== undefined && { User: workload.user }),
    Env: Object.entries(workload.env).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf(world, workload),
    ExposedPorts: Object.fromEntries(ports.map((port) => [`${port.containerPort}/${port.protocol}`, {}])),
    ...(health && {
      Healthcheck: {
        Test: ['CMD-SHELL', health.command],
        Interval: health.intervalMs * 1e6,
        Timeout: health.timeoutMs * 1e6,
        StartPeriod: health.graceMs * 1e6,
        Retries: health.failures,
      },
    }),
    HostConfig: {
      NanoCpus: Math.round(Math.min(workload.cpus, maxCpus) * NANO),
      Memory: workload.memoryBytes,
      // No swap, so that the memory limit is exact (D-045).
      MemorySwap: workload.memoryBytes,
      RestartPolicy: { Name: workload.kind === 'job' ? 'no' : 'unless-stopped' },
      NetworkMode: network,
      // Port 0: the engine chooses (D-047).
      PortBindings: Object.fromEntries(
        ports
          .filter((port) => port.isPublished)
          .map((port) => [`${port.containerPort}/${port.protocol}`, [{ HostIp: bindAddress, HostPort: '0' }]]),
      ),
      Mounts: workload.mounts.map((mount) => mountOf(world, mount)),
    },
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [...workload.aliases] } } },
  };
}

function mountOf(world: WorldMark, mount: Mount): Docker.MountSettings {
  if (mount.kind === 'host') {
    return { Type: 'bind', Source: mount.hostPath, Target: mount.path, ReadOnly: mount.isReadOnly };
  }
  // Without a source it is the instance's own, and goes with it.
  if (mount.kind === 'empty') return { Type: 'volume', Source: '', Target: mount.path };
  return {
    Type: 'volume',
    Source: `terrarium-${world.worldId.slice(0, 8)}-${mount.volumeId}`,
    Target: mount.path,
    ReadOnly: mount.isReadOnly,
    VolumeOptions: {
      NoCopy: false,
      Labels: { ...marksOf(world), [LABEL.volume]: mount.volumeId },
      DriverConfig: { Name: 'local', Options: {} },
    },
  };
}
