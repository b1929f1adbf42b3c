import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../model/reason.ts';
import type { ServiceDefinition } from './definition.ts';
import type { EngineCommand } from './engine-command.ts';
import { endOf, type JobOutcome, type JobToRun } from './job-runner.ts';
import { expandText } from './variables.ts';

/** How long a service may take until its port is open; then the job begins all the same, as on a server. */
const SERVICE_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;
const CONNECT_TIMEOUT_MS = 500;
const ENGINE_ANSWERS_WITHIN_MS = 10_000;
/** A container shares this machine's network, and so reaches the platform by the addresses that variables hold. */
const SHARES_NETWORK = process.platform === 'linux';

/** Where a job works within its container, as on a server. */
export const projectDirInContainer = (projectPath: string) => `/builds/${projectPath}`;

/** Runs a job in its image, with its services beside it; nothing of either is left. */
export async function runInContainer(
  job: JobToRun,
  { engine, projectDir }: { engine: EngineCommand; projectDir: string },
): Promise<JobOutcome> {
  const { image, services, signal, variables } = job;
  const made: string[] = [];
  let network: string | undefined;
  try {
    const imageName = expandText(image?.name ?? '', variables);
    await demand(engine, job, imageName);
    const hosts: string[] = [];
    if (services.length > 0) {
      network = await engine.run(['network', 'create', ...engine.labels, `terrarium-job-${randomUUID()}`], { signal });
      const started = await Promise.all(services.map((one) => startService(engine, job, one, network ?? '', made)));
      for (const { aliases, address } of started)
        for (const alias of aliases) hosts.push(`--add-host=${alias}:${address}`);
    }
    const names = Object.keys(variables);
    const { entrypoint, docker: { user } = {} } = image ?? {};
    const scripts = `${projectDir}.tmp`;
    const container = await engine.run(
      [
        'create',
        ...engine.labels,
        ...(SHARES_NETWORK ? ['--network', 'host', ...hosts] : network ? ['--network', network] : []),
        '--workdir',
        projectDir,
        ...(user ? ['--user', user] : []),
        ...(job.filesDir ? ['--volume', `${job.filesDir}:${job.filesDir}:ro`] : []),
        // Names only: values in arguments are in everybody's list of processes.
        ...names.flatMap((name) => ['--env', name]),
        ...(entrypoint ? ['--entrypoint', entrypoint[0] ?? ''] : []),
        imageName,
        ...(entrypoint ?? []).slice(1),
        'sh',
        `${scripts}/run`,
        scripts,
        projectDir,
      ],
      { signal, variables },
    );
    made.push(container);
    await engine.run(['cp', `${job.workDir}/.`, `${container}:${projectDir}`], { signal });
    await engine.run(['cp', job.scriptDir, `${container}:${scripts}`], { signal });
    const exitCode = await endOf(engine.attach(['start', '--attach', container]), job);
    if (!signal.aborted) await demandEnd(engine, container);
    await engine.run(['cp', `${container}:${projectDir}/.`, job.workDir]).catch((failure) => {
      job.onNote(`what it made could not be taken from its container: ${failure.message}`);
    });
    return { exitCode };
  } catch (failure) {
    signal.throwIfAborted();
    return { exitCode: 1, reason: reasonOf(failure) };
  } finally {
    // What an engine that is gone for now keeps is removed with the run's folder, or by the next run.
    const inTime = () => ({ signal: AbortSignal.timeout(ENGINE_ANSWERS_WITHIN_MS) });
    if (made.length > 0) await engine.run(['rm', '--force', '--volumes', ...made], inTime()).catch(() => undefined);
    if (network) await engine.run(['network', 'rm', network], inTime()).catch(() => undefined);
  }
}

/** Throws where the job has not ended, but the engine that ran it: the command that watches it ends then, too. */
async function demandEnd(engine: EngineCommand, container: string): Promise<void> {
  const signal = AbortSignal.timeout(ENGINE_ANSWERS_WITHIN_MS);
  const isRunning = await engine
    .run(['inspect', '--format', '{{.State.Running}}', container], { signal })
    .catch((failure) => {
      throw new Error(
        `the container engine was lost while the job ran (${failure.message}): start it, and run the job again`,
      );
    });
  if (isRunning === 'true')
    throw new Error('the connection to the container engine was lost while the job ran: run it again');
}

async function demand(engine: EngineCommand, { signal, onNote }: JobToRun, image: string): Promise<void> {
  await engine
    .demandImage(image, signal, () => onNote(`pulling ${image}`))
    .catch((failure) => {
      signal.throwIfAborted();
      throw new Error(
        `image '${image}' is not on this machine and cannot be pulled (${failure.message}): load it, correct its name, or run jobs on this machine with --shell`,
      );
    });
}

async function startService(
  engine: EngineCommand,
  job: JobToRun,
  service: ServiceDefinition,
  network: string,
  made: string[],
): Promise<{ aliases: string[]; address: string }> {
  const { signal } = job;
  const { alias, entrypoint, command, variables: own = {} } = service;
  const variables = {
    ...job.variables,
    ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, expandText(value, job.variables)])),
  };
  const name = expandText(service.name, variables);
  const plain = name.replace(/[:@].*$/, (tail) => (tail.includes('/') ? tail : ''));
  const aliases = [
    ...new Set([
      plain.replaceAll('/', '-'),
      plain.replaceAll('/', '__'),
      ...(alias ? expandText(alias, variables).split(/[\s,]+/) : []),
    ]),
  ];
  await demand(engine, job, name);
  const container = await engine.run(
    [
      'create',
      ...engine.labels,
      '--network',
      network,
      ...aliases.flatMap((one) => ['--network-alias', one]),
      ...Object.keys(variables).flatMap((one) => ['--env', one]),
      ...(entrypoint ? ['--entrypoint', entrypoint[0] ?? ''] : []),
      name,
      ...(entrypoint ?? []).slice(1),
      ...(command ?? []),
    ],
    { signal, variables },
  );
  made.push(container);
  await engine.run(['start', container], { signal });
  const [address = '', ports = ''] = (
    await engine.run(
      [
        'inspect',
        '--format',
        '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}} {{range $port, $_ := .Config.ExposedPorts}}{{$port}},{{end}}',
        container,
      ],
      { signal },
    )
  ).split(' ');
  const tcp = ports.split(',').flatMap((one) => /^(\d+)\/tcp$/.exec(one)?.[1] ?? []);
  if (SHARES_NETWORK && tcp.length > 0) await untilOpen({ engine, container, job, name }, address, tcp.map(Number));
  return { aliases, address };
}

/** Waits for the service to take connections; tells of one that does not, or has ended. */
async function untilOpen(
  { engine, container, job, name }: { engine: EngineCommand; container: string; job: JobToRun; name: string },
  address: string,
  ports: readonly number[],
): Promise<void> {
  const untilMs = performance.now() + SERVICE_LIMIT_MS;
  while (performance.now() < untilMs) {
    if ((await Promise.all(ports.map((port) => isOpen(address, port)))).includes(true)) return;
    const isRunning = await engine.run(['inspect', '--format', '{{.State.Running}}', container], {
      signal: job.signal,
    });
    if (isRunning !== 'true') {
      const said = await engine.run(['logs', '--tail', '1', container]).catch(() => '');
      return job.onNote(`service ${name} has ended${said ? `: ${said}` : ''}`);
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: job.signal });
  }
  job.onNote(`service ${name} does not take connections on ${ports.join(', ')} yet`);
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const settle = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
