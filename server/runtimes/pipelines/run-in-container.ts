import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../model/errors.ts';
import { gitSettings } from '../../system/git.ts';
import { execute } from '../containers/docker/execute.ts';
import { readLogs } from '../containers/docker/instance-logs.ts';
import { parseSockets } from '../containers/listening-sockets.ts';
import type { JobDefinition, ServiceDefinition } from './definition-schema.ts';
import { openDockerBroker } from './docker-broker.ts';
import type { JobEngine } from './job-engine.ts';
import { commandsOf } from './job-script.ts';
import { expandText } from './job-variables.ts';
import { type JobNetwork, openPlatformRoute, type PlatformRoute } from './platform-route.ts';
import { type JobOutcome, type JobToRun, setOrigin } from './run-on-host.ts';

/** Time until a service must have its port open; after that, the job starts anyway, as on GitLab. */
const SERVICE_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;
const CONNECT_TIMEOUT_MS = 500;
/** Lines that are shown of a service that has ended. */
const LOG_END = { sinceMs: 0, tail: 20, stderr: true };
/** Variables with addresses for people, who use them outside the network of the job. */
const KEPT_ADDRESSES = /^CI_(?:ENVIRONMENT_URL|(?:PROJECT|PIPELINE|JOB|MERGE_REQUEST_\w+)_URL$)/;

/** Returns the folder of the project within a job's container, as on a server. */
export const projectDirInContainer = (projectPath: string) => `/builds/${projectPath}`;

/** Docker's own image, as for `docker:dind` and jobs that call it. */
const isDockerImage = (name: string) => /(?:^|\/)docker(?:[:@]|$)/.test(name);
/** True if the job calls Docker, or has it as a service. */
export function usesDocker(definition: JobDefinition): boolean {
  const { image, services } = definition;
  const names = [image?.name ?? '', ...(services ?? []).map(({ name }) => name)];
  return names.some((name) => isDockerImage(name)) || commandsOf(definition).some((line) => /\bdocker\b/.test(line));
}

/** The socket of the engine for jobs, and the variables of a `docker:dind` service that no longer apply. */
const SOCKET = '/var/run/docker.sock';
const WITH_SOCKET = {
  DOCKER_HOST: `unix://${SOCKET}`,
  DOCKER_TLS_CERTDIR: '',
  DOCKER_TLS_VERIFY: '',
  DOCKER_CERT_PATH: '',
};

/** Opens the engine for a job that uses Docker; a note says what differs. */
async function openDocker(
  { engine, projectDir, platformUrls }: ContainerJobOptions,
  job: JobToRun,
  network: string,
): Promise<{ close(): void } | undefined> {
  const { dockerSocket: path, services, onNote } = job;
  if (path === undefined) return undefined;
  const address = engine.requestTarget;
  if (!address) {
    onNote('has no access to Docker, which requires a Docker engine on this machine (Linux)');
    return undefined;
  }
  const named = services.filter(({ name }) => isDockerImage(name)).map(({ name }) => name);
  const instead = named.length > 0 ? ` in place of the service ${named.join(', ')}, which needs privileges` : '';
  onNote(
    `uses the Docker engine of this machine${instead}: it shows only what this run creates, and rejects privileged containers and folders of the machine`,
  );
  const project = projectDir.replace(projectDirInContainer(''), '').toLowerCase();
  return openDockerBroker({
    path,
    engine: address,
    world: engine.world,
    network,
    project,
    registries: platformUrls.map((url) => new URL(url).host),
    imageIds: engine.imageIds,
  });
}

interface ContainerJobOptions {
  engine: JobEngine;
  projectDir: string;
  platformUrls: readonly string[];
}

/** Runs a job in its image, in a network of its own with its services; nothing of either is left. */
export async function runInContainer(job: JobToRun, options: ContainerJobOptions): Promise<JobOutcome> {
  const { engine, projectDir, platformUrls } = options;
  const { image, services, signal } = job;
  const containers: string[] = [];
  let networkId: string | undefined;
  let route: PlatformRoute | undefined;
  let docker: { close(): void } | undefined;
  try {
    const imageName = expandText(image?.name ?? '', job.variables);
    await demand(engine, job, imageName, image?.name);
    const { id, network } = await engine.createNetwork();
    networkId = id;
    route = network && (await routeFor(engine, network, platformUrls, job));
    docker = await openDocker(options, job, id);
    const variables: Record<string, string> = { ...inNetwork(job.variables, route), ...(docker && WITH_SOCKET) };
    if (variables.CI_REPOSITORY_URL) await setOrigin(job.workDir, variables.CI_REPOSITORY_URL);
    const inside: JobToRun = { ...job, variables };
    const runnableServices = docker ? services.filter(({ name }) => !isDockerImage(name)) : services;
    const started = await Promise.all(
      runnableServices.map((service) => startService(engine, inside, service, id, containers)),
    );
    const hosts = started.flatMap(({ aliases, address }) =>
      // One that has ended has none.
      address === '' ? [] : aliases.map((alias) => `${alias}:${address}`),
    );
    const { entrypoint, docker: { user } = {} } = image ?? {};
    const scripts = `${projectDir}.tmp`;
    const container = await engine.create({
      network: id,
      hosts,
      workingDir: projectDir,
      user,
      binds: docker ? [`${job.dockerSocket}:${SOCKET}`] : [],
      image: imageName,
      entrypoint,
      command: ['sh', `${scripts}/run`, scripts, projectDir],
      variables,
    });
    containers.push(container);
    // With the folders above, so that a user of the image may write in each.
    await engine.copyIn(job.buildsDir, container);
    const exitCode = await engine.run(container, job);
    const isInTime = !signal.aborted;
    for (const startedService of started) if (!startedService.hasEnded) await reportEnd(engine, job, startedService);
    await engine.copyOut(container, projectDir, job.workDir).catch((failure) => {
      job.onNote(`its files could not be copied from its container: ${failure.message}`);
    });
    return { exitCode, ...(isInTime && { isInTime }) };
  } catch (failure) {
    signal.throwIfAborted();
    return { exitCode: 1, reason: reasonOf(failure), kind: 'runner_system_failure' };
  } finally {
    await engine.remove(containers, networkId);
    route?.close();
    docker?.close();
  }
}

/** The variables as they are valid in the network of a job. */
function inNetwork(variables: JobToRun['variables'], route: PlatformRoute | undefined): Record<string, string> {
  const { CI_REGISTRY: registry = '' } = variables;
  // Names of images: the engine knows the registry by its address on this machine.
  const inImages = route && new RegExp(`(?<![/@])${route.translate(registry)}(?!\\d)`, 'g');
  const translated = Object.entries(variables).map(([name, value]) => [
    name,
    !inImages || KEPT_ADDRESSES.test(name) ? value : route.translate(value).replace(inImages, registry),
  ]);
  // The copy of the checkout belongs to another user than that of the image.
  const settings = variables.GIT_CONFIG_COUNT === undefined ? gitSettings({ 'safe.directory': '*' }) : {};
  return {
    ...settings,
    ...Object.fromEntries(translated),
    ...(route && serverOf(route, variables.CI_SERVER_URL ?? '')),
  };
}

function serverOf(route: PlatformRoute, serverUrl: string): Record<string, string> {
  const translated = route.translate(serverUrl);
  if (translated === serverUrl || !URL.canParse(translated)) return {};
  const { hostname, port, host } = new URL(translated);
  return { CI_SERVER_HOST: hostname, CI_SERVER_PORT: port, CI_SERVER_FQDN: host };
}

/** Undefined, with a note, where a job cannot reach the platform. */
async function routeFor(
  engine: JobEngine,
  network: JobNetwork,
  platformUrls: readonly string[],
  { onNote }: JobToRun,
): Promise<PlatformRoute | undefined> {
  const isInMachine = engine.site === 'virtual machine';
  return openPlatformRoute(isInMachine ? undefined : network, platformUrls).catch((failure) => {
    onNote(
      `cannot reach the platform: the gateway of its network is not an address of this machine (${reasonOf(failure)}). Use an engine on this machine, or run the jobs with --shell.`,
    );
    return undefined;
  });
}

async function demand(engine: JobEngine, { signal, onNote }: JobToRun, image: string, written?: string): Promise<void> {
  if (image === '') throw new Error(`its image '${written}' has no value. Set the variable.`);
  await engine
    .requireImage(image, signal, () => onNote(`pulling ${image}`))
    .catch((failure) => {
      signal.throwIfAborted();
      throw new Error(`${reasonOf(failure)}. To run the jobs directly on this machine, use --shell.`);
    });
}

interface StartedService {
  name: string;
  container: string;
  aliases: string[];
  address: string;
  hasEnded: boolean;
}

async function startService(
  engine: JobEngine,
  job: JobToRun,
  service: ServiceDefinition,
  network: string,
  containers: string[],
): Promise<StartedService> {
  const { alias, entrypoint, command, variables: serviceVariables = {} } = service;
  const variables = {
    ...job.variables,
    ...Object.fromEntries(
      Object.entries(serviceVariables).map(([name, value]) => [name, expandText(value, job.variables)]),
    ),
  };
  const name = expandText(service.name, variables);
  const plain = name.replace(/[:@].*$/, (tail) => (tail.includes('/') ? tail : ''));
  const named = alias ? expandText(alias, variables).split(/[\s,]+/) : [];
  const aliases = [...new Set([plain.replaceAll('/', '-'), plain.replaceAll('/', '__'), ...named])];
  await demand(engine, job, name, service.name);
  const container = await engine.create({
    network,
    aliases,
    image: name,
    entrypoint,
    command: command ?? [],
    variables,
  });
  containers.push(container);
  const handle = engine.connection.docker.getContainer(container);
  await engine.connection
    .ask(() => handle.start())
    .catch((failure) => {
      throw new Error(`service '${name}' cannot be started: ${failure.message}`);
    });
  const { NetworkSettings, Config } = await engine.connection.ask(() => handle.inspect());
  const address =
    NetworkSettings.Networks[network]?.IPAddress ?? Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '';
  const tcp = Object.keys(Config.ExposedPorts ?? {}).flatMap((portText) => /^(\d+)\/tcp$/.exec(portText)?.[1] ?? []);
  const started: StartedService = { name, container, aliases, address, hasEnded: false };
  if (tcp.length > 0) await untilOpen(engine, job, started, tcp.map(Number));
  return started;
}

/** Waits for the service to take connections; reports one that does not, or has ended. */
async function untilOpen(
  engine: JobEngine,
  job: JobToRun,
  service: StartedService,
  ports: readonly number[],
): Promise<void> {
  const untilMs = performance.now() + SERVICE_LIMIT_MS;
  while (performance.now() < untilMs) {
    if (await opensAny(engine, service, ports)) return;
    await reportEnd(engine, job, service);
    if (service.hasEnded) return;
    await pause(LOOK_EVERY_MS, undefined, { signal: job.signal });
  }
  job.onNote(`service ${service.name} does not accept connections on ${ports.join(', ')} yet`);
}

async function reportEnd({ connection }: JobEngine, { onNote }: JobToRun, service: StartedService): Promise<void> {
  const { name, container } = service;
  const state = await connection.ask((docker) => docker.getContainer(container).inspect()).catch(() => undefined);
  if (!state || state.State.Running) return;
  service.hasEnded = true;
  const lines = await readLogs(connection, 'containers', [container], LOG_END).catch(() => []);
  const { ExitCode: exitCode } = state.State;
  onNote(`service ${name} has ended with exit code ${exitCode}${lines.length > 0 ? '. The end of its log:' : ''}`);
  for (const { text } of lines) onNote(`> ${text}`);
}

/** In a virtual machine, the kernel there is asked, by a program that most images have; without it, nothing is waited for. */
async function opensAny(
  engine: JobEngine,
  { container, address }: StartedService,
  ports: readonly number[],
): Promise<boolean> {
  if (engine.site === 'here') return (await Promise.all(ports.map((port) => isOpen(address, port)))).includes(true);
  const command = ['cat', '/proc/net/tcp', '/proc/net/tcp6'];
  const result = await execute(engine.connection, container, command).catch(() => undefined);
  const sockets = parseSockets(result?.stdout ?? '');
  return !result?.stdout || sockets.some(({ port }) => ports.includes(port));
}

async function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  const settled = once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  return settled
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
