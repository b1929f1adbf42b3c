import type Docker from 'dockerode';
import type { Instance } from '../engine.ts';
import type { DockerAddress } from './docker-address.ts';
import { identityIn } from './labels.ts';

export function readInstance(
  found: Docker.ContainerInspectInfo,
  { publishedHost, isOwnKernel }: Pick<DockerAddress, 'publishedHost' | 'isOwnKernel'>,
): Instance {
  const { State: state, Config: config, NetworkSettings: network } = found;
  const startedAtMs = Date.parse(state.StartedAt);
  return {
    id: found.Id,
    ...identityIn(config.Labels),
    image: config.Image,
    imageId: bareId(found.Image),
    state: stateOf(state),
    health: healthOf(state.Health?.Status),
    isFailing: (state.Health?.Log?.at(-1)?.ExitCode ?? 0) !== 0,
    startedAtMs: startedAtMs > 0 ? startedAtMs : undefined,
    // Waiting for its restart it counts as running.
    exitCode: (state.Running && !state.Restarting) || state.Status === 'created' ? undefined : state.ExitCode,
    wasKilledForMemory: state.OOMKilled,
    error: state.Error === '' ? undefined : state.Error,
    ipAddress: isOwnKernel
      ? Object.values(network.Networks ?? {})
          .map((one) => one.IPAddress)
          .find((address) => address !== '')
      : undefined,
    addresses: Object.entries(network.Ports ?? {}).flatMap(([name, bindings]) => {
      // Null for a port that is exposed and not published, whatever the types say.
      const published = (bindings ?? []).find((one) => !one.HostIp.includes(':'));
      if (!published) return [];
      return [{ containerPort: Number.parseInt(name, 10), host: publishedHost, port: Number(published.HostPort) }];
    }),
  };
}

/** Engines write an image's id with and without its kind of digest. */
export const bareId = (id: string): string => id.replace(/^sha256:/, '');

function stateOf(state: Docker.ContainerInspectInfo['State']): Instance['state'] {
  if (state.Paused) return 'paused';
  if (state.Restarting) return 'restarting';
  if (state.Running) return 'running';
  if (state.Status === 'created') return state.Error === '' ? 'starting' : 'failed';
  return state.Dead ? 'failed' : 'exited';
}

function healthOf(status: string | undefined): Instance['health'] {
  return status === 'healthy' || status === 'unhealthy' || status === 'starting' ? status : 'none';
}
