import type Docker from 'dockerode';
import { z } from 'zod';
import type { FailedCheck, Instance } from '../engine.ts';
import type { DockerAddress } from './docker-address.ts';
import { NANO } from './instance-definition.ts';
import { identityIn } from './labels.ts';

/** The members without which an answer cannot be read; engines differ in the others. */
export const requiredMembers = z.looseObject({
  Id: z.string(),
  Image: z.string(),
  Config: z.looseObject({ Labels: z.record(z.string(), z.string()) }),
  State: z.looseObject({ Status: z.string(), StartedAt: z.string() }),
  HostConfig: z.looseObject({}),
  NetworkSettings: z.looseObject({}),
});

export function readInstance(
  found: Docker.ContainerInspectInfo,
  { publishedHost, isOwnKernel }: Pick<DockerAddress, 'publishedHost' | 'isOwnKernel'>,
): Instance {
  const { State: state, Config: config, NetworkSettings: network } = found;
  const startedAtMs = Date.parse(state.StartedAt);
  const isDisconnected = network.Networks && Object.keys(network.Networks).length === 0;
  return {
    id: found.Id,
    ...identityIn(config.Labels),
    image: config.Image,
    imageId: bareId(found.Image),
    state: stateOf(state),
    health: healthOf(state.Health?.Status),
    failedCheck: failedCheckOf(state.Health?.Log ?? []),
    healthLimitMs: healthLimitOf(config.Healthcheck),
    cpus: found.HostConfig.NanoCpus ? found.HostConfig.NanoCpus / NANO : undefined,
    restarts: found.RestartCount,
    startedAtMs: startedAtMs > 0 ? startedAtMs : undefined,
    // Waiting for its restart it counts as running.
    exitCode: (state.Running && !state.Restarting) || state.Status === 'created' ? undefined : state.ExitCode,
    wasKilledForMemory: state.OOMKilled,
    error: state.Running && isDisconnected ? 'it was disconnected from its network' : state.Error || undefined,
    ipAddress: isOwnKernel
      ? Object.values(network.Networks ?? {})
          .map((endpointSettings) => endpointSettings.IPAddress)
          .find((address) => address !== '')
      : undefined,
    addresses: Object.entries(network.Ports ?? {}).flatMap(([name, bindings]) => {
      // Null for a port that is exposed and not published, whatever the types say.
      const published = (bindings ?? []).find((binding) => !binding.HostIp.includes(':'));
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

/** Longest output of a check in a sentence. */
const MAX_OUTPUT = 200;

function failedCheckOf(log: readonly { Start: string; ExitCode: number; Output: string }[]): FailedCheck | undefined {
  const last = log.at(-1);
  if (!last || last.ExitCode === 0) return undefined;
  const lastPassed = log.findLastIndex(({ ExitCode }) => ExitCode === 0);
  const firstFailure = log[lastPassed + 1] ?? last;
  const output = last.Output.trim().replace(/\s+/g, ' ').slice(0, MAX_OUTPUT);
  // The daemon has no exit code for a command that it had to end.
  const ending = last.ExitCode === -1 ? '' : `exit code ${last.ExitCode}`;
  const result = [ending, output].filter((part) => part !== '').join(', ');
  return { check: 'COMMAND check', result, sinceMs: Date.parse(firstFailure.Start), isCut: lastPassed === -1 };
}

const NANOSECONDS_PER_MS = 1e6;
/** The daemon's defaults for an image that leaves them out. */
const HEALTH_DEFAULTS = { Interval: 30e9, Timeout: 30e9, StartPeriod: 0, Retries: 3 };

function healthLimitOf(
  healthConfig: { [name in keyof typeof HEALTH_DEFAULTS]?: number | undefined } | undefined,
): number {
  if (!healthConfig) return 0;
  const timeOf = (name: keyof typeof HEALTH_DEFAULTS) => healthConfig[name] || HEALTH_DEFAULTS[name];
  const eachMs = (timeOf('Interval') + timeOf('Timeout')) / NANOSECONDS_PER_MS;
  return timeOf('StartPeriod') / NANOSECONDS_PER_MS + eachMs * timeOf('Retries');
}
