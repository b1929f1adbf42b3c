import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PlatformError, reasonOf } from '../../../model/errors.ts';
import type { Uuid } from '../../../model/record.ts';
import type { LambdaProcess } from './lambda-process.ts';

export interface DebugState {
  lambdaId: Uuid;
  startedAtMs: number;
  /** The address to which a debugger attaches, `ws://127.0.0.1:PORT/ID`, the same for all processes of a lambda; absent while none listens. */
  url?: string;
  /** The file that the process runs: where breakpoints go. */
  file?: string;
  problem?: string;
}

export interface DebuggerAddresses {
  /** Port of the first debugged lambda; each other one gets the next free port. 0: any free port. */
  port: number;
  /** The secret end of a lambda's address. */
  idOf(lambdaId: Uuid): string;
}

/** Each has its own permanent process. */
const MAX_AT_ONCE = 10;

interface DebuggedLambda {
  state: DebugState;
  /** Undefined if it could not listen. */
  relay: Promise<DebugRelay | undefined>;
  /** The inspector of its process. */
  inspectorUrl?: string;
}

export class Debugging {
  readonly #nowMs: () => number;
  readonly #onChange: () => void;
  readonly #addresses: DebuggerAddresses;
  readonly #debugged = new Map<Uuid, DebuggedLambda>();

  constructor(nowMs: () => number, onChange: () => void, addresses: DebuggerAddresses) {
    this.#nowMs = nowMs;
    this.#onChange = onChange;
    this.#addresses = addresses;
  }

  find(lambdaId: Uuid): DebugState | undefined {
    return this.#debugged.get(lambdaId)?.state;
  }

  isOf(lambdaId: Uuid): boolean {
    return this.#debugged.has(lambdaId);
  }

  begin(lambdaId: Uuid): void {
    if (this.isOf(lambdaId)) return;
    if (this.#debugged.size >= MAX_AT_ONCE) {
      const ids = [...this.#debugged.keys()].join(', ');
      throw new PlatformError(
        'limit_reached',
        `${MAX_AT_ONCE} lambdas are being debugged, which is the maximum. Stop debugging one of ${ids}.`,
      );
    }
    const { port, idOf } = this.#addresses;
    const state = { lambdaId, startedAtMs: this.#nowMs() };
    const relay = DebugRelay.listen(port, idOf(lambdaId)).catch((cause: unknown) => {
      this.failed(lambdaId, `no port for a debugger is available: ${reasonOf(cause)}. Stop debugging and try again.`);
      return undefined;
    });
    this.#debugged.set(lambdaId, { state, relay });
    this.#onChange();
  }

  end(lambdaId: Uuid): void {
    void this.#debugged.get(lambdaId)?.relay.then((relay) => relay?.close());
    this.#debugged.delete(lambdaId);
    this.#onChange();
  }

  /** Shows where a debugger can attach while this process of the lambda listens for one. */
  follow(process: LambdaProcess, lambdaId: Uuid, file: string): void {
    let inspectorUrl: string | undefined;
    process.onInspecting = (url) => {
      inspectorUrl = url;
      void this.#listens(lambdaId, url, file);
    };
    void process.exited.then(() => this.#ended(lambdaId, inspectorUrl));
  }

  async #listens(lambdaId: Uuid, inspectorUrl: string, file: string): Promise<void> {
    const debugged = this.#debugged.get(lambdaId);
    if (!debugged) return;
    debugged.inspectorUrl = inspectorUrl;
    const relay = await debugged.relay;
    if (!relay || debugged.inspectorUrl !== inspectorUrl) return;
    relay.inspectorUrl = inspectorUrl;
    this.#show(debugged, { url: relay.url, file });
  }

  /** @param inspectorUrl undefined if the process has never listened */
  async #ended(lambdaId: Uuid, inspectorUrl: string | undefined): Promise<void> {
    const debugged = this.#debugged.get(lambdaId);
    if (!debugged || debugged.inspectorUrl !== inspectorUrl) return;
    const { problem } = debugged.state;
    delete debugged.inspectorUrl;
    this.#show(debugged, problem === undefined ? {} : { problem });
    const relay = await debugged.relay;
    if (relay) relay.inspectorUrl = undefined;
  }

  /** The lambda has no process, because of a problem. */
  failed(lambdaId: Uuid, problem: string): void {
    const debugged = this.#debugged.get(lambdaId);
    if (debugged) this.#show(debugged, { problem });
  }

  stop(): void {
    for (const lambdaId of [...this.#debugged.keys()]) this.end(lambdaId);
  }

  #show(debugged: DebuggedLambda, details: Pick<DebugState, 'url' | 'file' | 'problem'>): void {
    const { lambdaId, startedAtMs } = debugged.state;
    debugged.state = { lambdaId, startedAtMs, ...details };
    this.#onChange();
  }
}

/** True for a message of Node about a debugger on the standard error of a process; the lambda did not print it. */
export function isDebuggerTalk(line: string): boolean {
  return /^(Debugger (attached|listening on |ending on )|Waiting for the debugger to disconnect|For help, see: https:)/.test(
    line,
  );
}

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
  /** Emits `change` for debuggers that wait. */
  readonly #events = new EventEmitter().setMaxListeners(0);

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
    this.#events.emit('change');
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#events.emit('change');
  }

  async #attach(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#keep(socket);
    const { origin } = request.headers;
    // Web pages send their origin; debuggers send none, or the origin of the browser's developer tools.
    if (request.url !== this.#path || (origin !== undefined && /^https?:|^null$/.test(origin))) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const deadline = AbortSignal.timeout(MAX_WAIT_MS);
    while (!deadline.aborted && !socket.destroyed) {
      const inspectorUrl = this.#inspectorUrl;
      const inspector = inspectorUrl && (await this.#responding(request, inspectorUrl));
      if (inspector) {
        inspector.write(head);
        socket.pipe(inspector).pipe(socket);
        socket.once('close', () => inspector.destroy());
        inspector.once('close', () => socket.destroy());
        return;
      }
      // The process has ended, and is about to be reported as ended.
      if (this.#inspectorUrl === inspectorUrl) this.#inspectorUrl = undefined;
      if (!this.#inspectorUrl) await once(this.#events, 'change', { signal: deadline }).catch(() => {});
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
