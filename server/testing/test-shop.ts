import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { closeWithin, listenAt } from '../api/server/listening.ts';
import { ContainerProxy } from '../gateway/container-proxy.ts';
import type { GatewayOptions } from '../gateway/gateway.ts';
import type { InstanceDirectory, ServingInstance } from '../gateway/round-robin.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { TestGateway } from './gateway.ts';

/** A server that represents an instance of a container. */
export class InstanceServer {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** `METHOD target` of each request. */
  readonly requests: string[] = [];
  readonly instanceId: string;
  port = 0;
  /** Number of accepted connections. */
  connections = 0;

  constructor(instanceId: string, handler: RequestListener, server = createServer({ keepAliveTimeout: 60_000 })) {
    this.instanceId = instanceId;
    this.server = server;
    server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      handler(request, response);
    });
  }

  async start(port = 0): Promise<this> {
    this.port = (await listenAt(this.server, { host: '127.0.0.1', port })).port;
    return this;
  }

  get serving(): ServingInstance {
    return { instanceId: this.instanceId, host: '127.0.0.1', port: this.port };
  }

  /** Simulates a machine that is switched off: nothing listens, all connections are reset. */
  async kill(): Promise<void> {
    for (const socket of this.sockets) socket.resetAndDestroy();
    if (this.server.listening) await closeWithin(this.server, 0);
  }
}

/** A gateway with a container `shop` at `/web/shop`, and instances that a test adds. */
export class TestShop implements InstanceDirectory {
  readonly instances: InstanceServer[] = [];
  /** The instances that the directory returns (default: all). */
  listed: readonly ServingInstance[] | undefined;
  readonly gateway: TestGateway;
  readonly proxy: ContainerProxy;
  readonly shop: StoredResource;
  readonly endpoint: StoredResource;

  constructor(
    options: {
      gateway?: Partial<GatewayOptions>;
      answerTimeoutMs?: number;
      endpoint?: JsonObject;
    } = {},
  ) {
    this.proxy = new ContainerProxy({
      directory: this,
      steadyMs: () => this.gateway.nowMs,
      // Longer than between any two requests of a test.
      idleConnectionMs: 10 * 60_000,
      ...(options.answerTimeoutMs !== undefined && { answerTimeoutMs: options.answerTimeoutMs }),
    });
    this.gateway = new TestGateway({ ...options.gateway, containers: this.proxy });
    this.shop = this.gateway.container('shop');
    const properties = { resource: '/shop', container_port_name: 'web', ...options.endpoint };
    this.endpoint = this.gateway.endpoint(this.gateway.api('web'), this.shop, properties);
  }

  serving(containerId: string, portName: string): readonly ServingInstance[] {
    if (containerId !== this.shop.id || portName !== 'web') return [];
    return this.listed ?? this.instances.map(({ serving }) => serving);
  }

  unavailableReason(): string {
    return 'it has no instances (num_instances is 0)';
  }

  async start(): Promise<this> {
    await this.gateway.start();
    return this;
  }

  /** Starts another instance. */
  async instance(handler: RequestListener, server?: Server): Promise<InstanceServer> {
    const instance = new InstanceServer(`i${this.instances.length + 1}`, handler, server);
    this.instances.push(await instance.start());
    return instance;
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.proxy.stop();
    await Promise.all(this.instances.map((instance) => instance.kill()));
  }
}
