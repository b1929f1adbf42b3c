import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Uuid } from '../model/ids.ts';
import type { ServingInstance } from './instance-directory.ts';
import type { InstanceTurns } from './instance-turns.ts';

/** For an instance to take a connection. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Where a port listens and what it leads to. */
export interface ServicePortOptions {
  host: string;
  /** 0 chooses a free one. */
  port: number;
  containerId: Uuid;
  portName: string;
  turns: InstanceTurns;
}

/** One listening TCP port: each connection goes to the instance whose turn it is, and ends as either side ends it. */
export class ServicePort {
  readonly port: number;
  readonly #options: ServicePortOptions;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();

  private constructor(options: ServicePortOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port; // a server on a TCP port always has one
    server.on('connection', (client) => void this.#lead(client));
    server.on('error', () => {}); // one connection that could not be accepted
  }

  /** Rejects with the error of the operating system when the port cannot be listened on, e.g. EADDRINUSE. */
  static async listen(options: ServicePortOptions): Promise<ServicePort> {
    // Paused, so that nothing is read before there is an instance to take it; half open, so that one side may finish first.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    server.listen(options.port, options.host);
    await once(server, 'listening');
    return new ServicePort(options, server);
  }

  /** Stops listening and cuts every connection. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const client of this.#clients) client.resetAndDestroy();
    await closed;
  }

  /** Finds an instance that takes the connection; without one it is reset, as if nobody listened. */
  async #lead(client: Socket): Promise<void> {
    const { turns, containerId, portName } = this.#options;
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    client.on('error', () => {}); // its close is what matters
    const tried = new Set<string>();
    while (!client.destroyed) {
      const instance = turns.inTurn(containerId, portName).find(({ instanceId }) => !tried.has(instanceId));
      if (!instance) {
        client.resetAndDestroy();
        return;
      }
      tried.add(instance.instanceId);
      const end = turns.begin(instance.instanceId, { cut: () => client.resetAndDestroy() });
      const upstream = await connectTo(instance);
      if (upstream) {
        join(client, upstream, end);
        return;
      }
      end();
    }
  }
}

/** A connection to an instance; undefined when it takes none. */
async function connectTo({ host, port }: ServingInstance): Promise<Socket | undefined> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch {
    socket.destroy();
    return undefined;
  }
  return socket.on('error', () => {}); // its close is what matters
}

/** Passes bytes both ways. A side that breaks off breaks off for the other, too; one that ends may still be sent to. */
function join(client: Socket, upstream: Socket, onClosed: () => void): void {
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('close', () => {
      if (!one.readableEnded || !other.writableEnded) other.resetAndDestroy();
      if (other.closed) onClosed();
    });
  }
  if (client.destroyed) upstream.destroy();
  client.pipe(upstream);
  upstream.pipe(client);
}
