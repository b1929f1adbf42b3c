import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import Docker from 'dockerode';

const runFile = promisify(execFile);

async function execute(file: string, options: readonly string[]): Promise<string> {
  return (await runFile(file, options)).stdout;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;
const POLL_MS = 200;
/** Less than the default of 5 s: a node is lost after three missed heartbeats. */
const HEARTBEAT_NS = 2_000_000_000;
const MANAGER_ADDRESS = '10.213.77.1';
const NODE_ADDRESS = '10.213.77.2';
const TEST_LOOPBACK = '127.213.77.1';
const HOST_NAME = 'node-two';
const NAMESPACE = 'terrarium-swarm';
const LINK = 'terrarium-swarm';

/** Returns the reason why this machine cannot run a second swarm node; undefined if it can. Throws with CI=true. */
export async function missingForSwarmNode(): Promise<string | undefined> {
  const reason = await findMissing();
  if (reason !== undefined && process.env.CI === 'true') throw new Error(reason);
  return reason;
}

async function findMissing(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'a second swarm node needs root on Linux';
  for (const tool of ['ip', 'nsenter', 'unshare', 'dockerd']) {
    const isInstalled = await execute('sh', ['-c', `command -v ${tool}`]).then(
      () => true,
      () => false,
    );
    if (!isInstalled)
      return `a second swarm node needs '${tool}' (Debian: apt-get install docker.io iproute2 util-linux)`;
  }
  return (await isInForeignSwarm(new Docker()))
    ? 'the Docker daemon belongs to a swarm that tests must not change'
    : undefined;
}

/** Makes the daemon the manager of a swarm that later test runs recognize by its address. */
export async function createTestSwarm(docker: Docker, address = TEST_LOOPBACK): Promise<void> {
  const Spec = { Dispatcher: { HeartbeatPeriod: HEARTBEAT_NS } };
  await docker.swarmInit({ ListenAddr: `${address}:2377`, AdvertiseAddr: address, Spec });
}

/** Is the daemon in a swarm of its user? It leaves a swarm of a test run that was killed before. */
export async function isInForeignSwarm(docker: Docker): Promise<boolean> {
  const { Swarm: swarm } = await docker.info();
  if (!swarm || swarm.LocalNodeState === 'inactive') return false;
  if (![MANAGER_ADDRESS, TEST_LOOPBACK].includes(swarm.NodeAddr)) return true;
  await docker.swarmLeave({ force: true });
  return false;
}

/** Removes the namespace of the second node with the processes in it, and the link to it. */
async function removeNetwork(): Promise<void> {
  const pids = await execute('ip', ['netns', 'pids', NAMESPACE]).catch(() => '');
  for (const pid of pids.split('\n').filter(Boolean)) await execute('kill', ['-9', pid]).catch(() => undefined);
  await execute('ip', ['netns', 'delete', NAMESPACE]).catch(() => undefined);
  await execute('ip', ['link', 'delete', LINK]).catch(() => undefined);
}

/** A second Docker daemon in a network namespace, which forms a swarm with the daemon of this machine. */
export class SwarmNode {
  readonly address = NODE_ADDRESS;
  readonly hostName = HOST_NAME;
  readonly docker: Docker;
  readonly #manager: Docker;
  readonly #folder: string;
  #daemon: ReturnType<typeof spawn> | undefined;

  private constructor(manager: Docker, folder: string) {
    this.#manager = manager;
    this.#folder = folder;
    this.docker = new Docker({ socketPath: join(folder, 'docker.sock') });
  }

  static async start(manager: Docker): Promise<SwarmNode> {
    const node = new SwarmNode(manager, await mkdtemp(join(tmpdir(), 'swarm-node-')));
    try {
      await node.#createNetwork();
      await node.startDaemon();
      await createTestSwarm(manager, MANAGER_ADDRESS);
      const { JoinTokens: tokens } = Object(await manager.swarmInspect());
      await node.docker.swarmJoin({
        ListenAddr: `${NODE_ADDRESS}:2377`,
        AdvertiseAddr: NODE_ADDRESS,
        RemoteAddrs: [`${MANAGER_ADDRESS}:2377`],
        JoinToken: tokens.Worker,
      });
      await node.#untilReady();
    } catch (failure) {
      await node.stop();
      throw failure;
    }
    return node;
  }

  /** Ends the daemon and its containers without a word to the manager, like a machine that loses its power. */
  async kill(): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = undefined;
    if (daemon?.pid === undefined || daemon.exitCode !== null) return;
    const ended = once(daemon, 'exit');
    await execute('ip', ['-n', NAMESPACE, 'link', 'set', 'node', 'down']);
    const containers = await this.docker.listContainers({}).catch(() => []);
    for (const { Id: id } of containers)
      await this.docker
        .getContainer(id)
        .kill()
        .catch(() => undefined);
    daemon.kill('SIGTERM');
    const timer = setTimeout(() => daemon.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Sets whether the manager gives tasks to a node: `drain` moves them away. */
  async setAvailability(hostName: string, availability: 'active' | 'drain'): Promise<void> {
    const node = (await this.nodes()).find(({ Description: { Hostname } }) => Hostname === hostName);
    if (!node) throw new Error(`the swarm has no node '${hostName}'`);
    const change = { ...node.Spec, Availability: availability, version: node.Version.Index };
    await this.#manager.getNode(node.ID).update(change);
  }

  async nodes(): Promise<
    {
      ID: string;
      Version: { Index: number };
      Spec: object;
      Description: { Hostname: string };
      Status: { State: string };
    }[]
  > {
    return (await this.#manager.listNodes()) as Awaited<ReturnType<SwarmNode['nodes']>>; // its type is loose
  }

  /** Ends the swarm, the daemon and the namespace. */
  async stop(): Promise<void> {
    await this.docker.swarmLeave({ force: true }).catch(() => undefined);
    await this.#manager.swarmLeave({ force: true }).catch(() => undefined);
    await this.kill();
    await removeNetwork();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }

  async #createNetwork(): Promise<void> {
    await removeNetwork(); // A test run that was killed leaves its own.
    await execute('ip', ['netns', 'add', NAMESPACE]);
    await execute('ip', ['link', 'add', LINK, 'type', 'veth', 'peer', 'name', 'node', 'netns', NAMESPACE]);
    await execute('ip', ['address', 'add', `${MANAGER_ADDRESS}/24`, 'dev', LINK]);
    await execute('ip', ['link', 'set', LINK, 'up']);
    await execute('ip', ['-n', NAMESPACE, 'address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'node']);
    await execute('ip', ['-n', NAMESPACE, 'link', 'set', 'lo', 'up']);
    await execute('ip', ['-n', NAMESPACE, 'link', 'set', 'node', 'up']);
  }

  async startDaemon(): Promise<void> {
    const folder = this.#folder;
    const options = [
      `--host=unix://${folder}/docker.sock`,
      `--data-root=${folder}/data`,
      `--exec-root=${folder}/run`,
      `--pidfile=${folder}/docker.pid`,
      '--storage-driver=vfs',
      '--containerd-namespace=terrarium-swarm-node',
      '--containerd-plugins-namespace=terrarium-swarm-node-plugins',
    ];
    const script = `hostname ${HOST_NAME}; exec dockerd "$@" 2>${folder}/log`;
    const namespace = `--net=/run/netns/${NAMESPACE}`;
    this.#daemon = spawn('nsenter', [namespace, 'unshare', '--uts', 'sh', '-c', script, 'sh', ...options], {
      stdio: 'ignore',
    });
    for (const untilMs = Date.now() + START_LIMIT_MS; ; await pause(POLL_MS)) {
      const isUp = await this.docker.ping().then(
        () => true,
        () => false,
      );
      if (isUp) return;
      if (this.#daemon.exitCode !== null || Date.now() > untilMs) {
        throw new Error(`the second daemon does not start: ${await execute('tail', ['-n', '5', `${folder}/log`])}`);
      }
    }
  }

  async #untilReady(): Promise<void> {
    for (const untilMs = Date.now() + START_LIMIT_MS; ; await pause(POLL_MS)) {
      const states = (await this.nodes()).map(({ Status: { State: state } }) => state);
      if (states.length === 2 && states.every((state) => state === 'ready')) return;
      if (Date.now() > untilMs) throw new Error(`the second node does not get ready: ${states.join(', ')}`);
    }
  }
}
