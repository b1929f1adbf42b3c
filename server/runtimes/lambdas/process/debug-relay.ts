import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Ports that are tried from the first one on, before any free one. */
const PORTS_TO_TRY = 20;
const LARGEST_PORT = 65_535;
/** Time that a debugger waits for the process, which is started again after an edit. */
const MAX_WAIT_MS = 10_000;

/** The address of a debugger, which stays the same while edits replace the process behind it. */
export class DebugRelay {
  readonly url: string;
  readonly #server: Server;
  readonly #path: string;
  readonly #sockets = new Set<Duplex>();
  #inspectorUrl: URL | undefined;
  #waiting: ((inspectorUrl: URL | undefined) => void)[] = [];

  /** @param id last part of the address; a program that knows it can run any code in the lambda's process */
  static async listen(firstPort: number, id: string): Promise<DebugRelay> {
    const server = createServer((_, response) => void response.writeHead(404).end());
    const lastPort = Math.min(firstPort + PORTS_TO_TRY - 1, LARGEST_PORT);
    // A port can be in use, or need other permissions.
    for (let port = firstPort; port > 0 && port <= lastPort; port += 1) {
      try {
        return new DebugRelay(await listenAt(server, port), id);
      } catch {}
    }
    return new DebugRelay(await listenAt(server, 0), id);
  }

  private constructor(server: Server, id: string) {
    this.#server = server;
    this.#path = `/${id}`;
    // As: it listens on TCP.
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}${this.#path}`;
    server.on('upgrade', (request, socket, head) => void this.#attach(request, socket, head));
  }

  /** The inspector of the present process. Undefined: debuggers wait for the next one. */
  set inspectorUrl(url: string | undefined) {
    this.#inspectorUrl = url === undefined ? undefined : new URL(url);
    if (this.#inspectorUrl) for (const resolve of this.#waiting.splice(0)) resolve(this.#inspectorUrl);
  }

  close(): void {
    this.#server.close();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    for (const socket of this.#sockets) socket.destroy();
  }

  async #attach(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#keep(socket);
    const { origin } = request.headers;
    // Web pages send their origin; debuggers send none, or the origin of the browser's developer tools.
    if (request.url !== this.#path || (origin !== undefined && /^https?:|^null$/.test(origin))) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const untilMs = performance.now() + MAX_WAIT_MS;
    while (performance.now() < untilMs) {
      const inspectorUrl = this.#inspectorUrl ?? (await this.#nextInspector());
      if (!inspectorUrl) break;
      const inspector = await this.#responding(request, inspectorUrl);
      if (inspector) {
        inspector.write(head);
        socket.pipe(inspector).pipe(socket);
        socket.once('close', () => inspector.destroy());
        inspector.once('close', () => socket.destroy());
        return;
      }
      // The process has ended, and is about to be reported as ended.
      if (this.#inspectorUrl === inspectorUrl) this.#inspectorUrl = undefined;
    }
    socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  }

  /** A connection to an inspector that has begun to respond to the request. Undefined: its process has ended. */
  async #responding(request: IncomingMessage, inspectorUrl: URL): Promise<Socket | undefined> {
    const inspector = connect(Number(inspectorUrl.port), inspectorUrl.hostname);
    this.#keep(inspector);
    inspector.write(requestText(request, inspectorUrl));
    const isClosed = await Promise.race([
      once(inspector, 'readable').then(() => inspector.readableLength === 0),
      once(inspector, 'close').then(() => true),
    ]).catch(() => true);
    return isClosed ? undefined : inspector;
  }

  #nextInspector(): Promise<URL | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), MAX_WAIT_MS).unref();
      this.#waiting.push((inspectorUrl) => {
        clearTimeout(timer);
        resolve(inspectorUrl);
      });
    });
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket)).on('error', () => socket.destroy());
  }
}

async function listenAt(server: Server, port: number): Promise<Server> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server.unref();
}

/** The request of a debugger as the inspector expects it: with its own path and host. */
function requestText({ rawHeaders }: IncomingMessage, { pathname, host }: URL): string {
  const lines = [`GET ${pathname} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = `${rawHeaders[index]}`;
    lines.push(`${name}: ${name.toLowerCase() === 'host' ? host : rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
