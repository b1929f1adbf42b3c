import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Change } from '../model/commit.ts';
import { reasonOf } from '../model/errors.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { Uuid, WorldView } from '../model/record.ts';
import { CONTAINER } from '../model/types/container.ts';
import { servicePortNames } from '../model/types/port-mappings.ts';
import { joinSockets } from './joined-sockets.ts';
import { type InstanceDirectory, RoundRobin, type ServingInstance } from './round-robin.ts';

const CONNECT_TIMEOUT_MS = 10_000;

interface ServicePort {
  port: number;
  close(): Promise<void>;
}

/** Forwards each connection to the next instance in turn. @param port 0 selects a free port */
async function openPort(
  { host, port }: { host: string; port: number },
  turns: RoundRobin,
  containerId: Uuid,
  portName: string,
): Promise<ServicePort> {
  const clients = new Set<Socket>();
  /** Finds an instance for a connection. If there is none, resets the connection. */
  const forward = async (client: Socket) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => {}); // the close event is handled instead
    const tried = new Set<string>();
    while (!client.destroyed) {
      const instance = turns.inOrder(containerId, portName).find(({ instanceId }) => !tried.has(instanceId));
      if (!instance) return void client.resetAndDestroy();
      tried.add(instance.instanceId);
      const end = turns.begin(instance.instanceId, { cut: () => client.resetAndDestroy() });
      const upstream = await connectTo(instance);
      if (upstream) {
        return joinSockets(client, upstream).then(end);
      }
      end();
    }
  };
  // Paused until an instance accepts the connection; half open, so that one side can finish first.
  const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true };
  const server = createServer(options, (client) => void forward(client));
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', () => {}); // one connection that could not be accepted
  return {
    port: (server.address() as AddressInfo).port, // as: a server on a TCP port always has an address
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.resetAndDestroy();
      await closed;
    },
  };
}

async function connectTo({ host, port }: ServingInstance): Promise<Socket | undefined> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch {
    socket.destroy();
    return undefined;
  }
  return socket;
}

/** The port of a container's port mapping; its key is `<container id>/<port name>`. */
export interface ServicePortRecord {
  port: number;
}

export interface ServicePortsOptions {
  view: WorldView;
  directory: InstanceDirectory;
  host: string;
  ports: KeyedLog<ServicePortRecord>;
  steadyMs(): number;
  onWarning(message: string): void;
}

/** A TCP port per exposed container port (`external`, `loadBalancer`), also after restarts, round robin to ready instances (D-047). */
export class ServicePorts {
  readonly #options: ServicePortsOptions;
  readonly #turns: RoundRobin;
  /** Open ports by the keys of their records. */
  readonly #open = new Map<string, ServicePort>();
  /** Changes are applied one after the other, so that the last one wins. */
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ServicePortsOptions) {
    this.#options = options;
    this.#turns = new RoundRobin(options.directory, options.steadyMs);
  }

  /** Listens for all containers of the world, and removes the ports of deleted ones. Failures are warnings. */
  async start(): Promise<void> {
    const { view, ports } = this.#options;
    for (const [key] of [...ports.entries()]) {
      const [id = ''] = key.split('/', 1);
      if (!this.#requiredPorts(id).includes(key)) await ports.remove(key);
    }
    for (const { id } of view.all('containers')) this.#follow(id);
    await this.settled();
  }

  /** Applies a change of a container that the view must already show. */
  changed({ before, after }: Change): void {
    const container = after ?? before;
    if (container) this.#follow(container.id);
  }

  /** The port for `service_port` of a port mapping (`portNameOf`); undefined while nothing listens. */
  portOf(containerId: Uuid, portName: string): number | undefined {
    return this.#open.get(`${containerId}/${portName}`)?.port;
  }

  settled(): Promise<void> {
    return this.#work;
  }

  /** Stops new connections to an instance that will be removed. Resolves when its connections are closed, or cut after the timeout. */
  drain(instanceId: string, timeoutMs: number): Promise<void> {
    return this.#turns.drain(instanceId, timeoutMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    await Promise.all(Array.from(this.#open.values(), (port) => port.close()));
    this.#open.clear();
    this.#turns.stop();
  }

  #follow(containerId: Uuid): void {
    this.#work = this.#work.then(() => this.#reconcile(containerId));
  }

  #requiredPorts(containerId: Uuid): readonly string[] {
    const container = this.#options.view.find(containerId);
    return container?.type === CONTAINER ? servicePortNames(container).map((name) => `${containerId}/${name}`) : [];
  }

  async #reconcile(containerId: Uuid): Promise<void> {
    if (this.#isStopped) return;
    const requiredPorts = this.#requiredPorts(containerId);
    for (const [key, port] of this.#open) {
      if (!key.startsWith(`${containerId}/`) || requiredPorts.includes(key)) continue;
      this.#open.delete(key);
      await port.close();
      await this.#keep(() => this.#options.ports.remove(key));
    }
    for (const key of requiredPorts) if (!this.#open.has(key)) await this.#listen(containerId, key);
  }

  async #listen(containerId: Uuid, key: string): Promise<void> {
    const { host, ports, view, onWarning } = this.#options;
    const portName = key.slice(containerId.length + 1);
    const lastPort = ports.get(key)?.port ?? 0;
    const where = `port '${portName}' of container '${view.find(containerId)?.name}'`;
    const listen = (port: number) => openPort({ host, port }, this.#turns, containerId, portName);
    try {
      const port = await listen(lastPort).catch(async (fault: NodeJS.ErrnoException) => {
        if (lastPort === 0) throw fault;
        const other = await listen(0);
        onWarning(`${where}: port ${lastPort} is not available (${fault.code}), so it uses port ${other.port} now`);
        return other;
      });
      this.#open.set(key, port);
      if (port.port !== lastPort) await this.#keep(() => ports.put(key, { port: port.port }));
    } catch (fault) {
      onWarning(`${where} cannot be published on ${host}: ${reasonOf(fault)}`);
    }
  }

  /** A port that is not saved only changes after a restart. */
  async #keep(write: () => Promise<unknown>): Promise<void> {
    await write().catch((fault: Error) => this.#options.onWarning(`a service port was not saved: ${fault.message}`));
  }
}
