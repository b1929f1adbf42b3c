import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { TestGateway } from '../testing/gateway.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import type { ServingInstance } from './round-robin.ts';
import { type ServicePortRecord, ServicePorts, type ServicePortsOptions } from './service-ports.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const exposed = { name: 'web', protocol: 'tcp', container_port: 8080, expose_endpoint: true, lb_port: 80 };
const external = { ...exposed, type: 'external' };

/** A world with service ports; the gateway in it is not started. */
class Quay {
  readonly gateway = new TestGateway();
  readonly warnings: string[] = [];
  readonly instances: ServingInstance[] = [];
  ports: ServicePorts;
  readonly log: MemoryLog<ServicePortRecord>;

  constructor(log = new MemoryLog<ServicePortRecord>()) {
    this.log = log;
    this.ports = this.open();
    cleanUps.push(() => this.ports.stop());
  }

  open(options: Partial<ServicePortsOptions> = {}): ServicePorts {
    return new ServicePorts({
      view: this.gateway.world,
      directory: { serving: () => this.instances, unavailableReason: () => 'none' },
      host: '127.0.0.1',
      ports: this.log,
      steadyMs: Date.now,
      onWarning: (message) => this.warnings.push(message),
      ...options,
    });
  }

  async restart(): Promise<void> {
    await this.ports.stop();
    this.ports = this.open();
    await this.ports.start();
  }

  /** Stores a container with those port mappings, a new one or another version of one. */
  async container(mappings: JsonObject[], before = this.gateway.container('shop')): Promise<StoredResource> {
    const after = this.gateway.patch(before, { port_mappings: mappings });
    this.ports.changed({ before, after });
    await this.ports.settled();
    return after;
  }

  async remove(container: StoredResource): Promise<void> {
    this.gateway.remove(container);
    this.ports.changed({ before: container });
    await this.ports.settled();
  }

  async instance(instanceId: string, serve: (socket: Socket) => void): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      serve(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.instances.push({ instanceId, host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    cleanUps.push(() => server.close());
    return server;
  }

  dial(container: StoredResource): Socket {
    const socket = connect({ port: this.portOf(container), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    return socket;
  }

  portOf(container: StoredResource): number {
    const port = this.ports.portOf(container.id, 'web');
    if (port === undefined) throw new Error('nothing listens');
    return port;
  }
}

/** True if something listens. A reset counts as well: that is how a port without an instance responds. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const fault = await once(socket, 'connect').catch((failure) => failure);
  socket.on('error', () => {}).destroy();
  return fault.code !== 'ECONNREFUSED';
}

/** All that is read of a socket until its other side has finished. */
async function bytesOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

const textOf = async (socket: Socket) => (await bytesOf(socket)).toString();

const closed = (socket: Socket | undefined) => new Promise((resolve) => socket?.once('close', resolve));

describe('a port is published', () => {
  it.each([
    ['external', [external], true],
    ['loadBalancer, in a list of one', [{ ...exposed, type: ['loadBalancer'] }], true],
    ['internal', [{ ...exposed, type: 'internal' }], false],
    ['not exposed', [{ ...external, expose_endpoint: false }], false],
    ['udp', [{ ...external, protocol: 'udp' }], false],
  ])('when it is external or loadBalancer, here %s', async (_type, mappings, isPublished) => {
    const quay = new Quay();
    const container = await quay.container(mappings);
    const port = quay.ports.portOf(container.id, 'web');
    expect(port !== undefined).toBe(isPublished);
    expect(quay.log.size).toBe(isPublished ? 1 : 0);
    if (port !== undefined) expect(await isOpen(port)).toBe(true);
  });

  it('for each port mapping by itself, by its container port where it has no name', async () => {
    const quay = new Quay();
    const { name: _name, ...unnamed } = external;
    const container = await quay.container([external, { ...unnamed, container_port: 9090 }]);
    expect(quay.ports.portOf(container.id, 'web')).toBeTypeOf('number');
    expect(quay.ports.portOf(container.id, '9090')).toBeTypeOf('number');
    expect(quay.ports.portOf(container.id, '9090')).not.toBe(quay.ports.portOf(container.id, 'web'));
  });

  it('until its container goes, or no longer wants it', async () => {
    const quay = new Quay();
    const [first, second] = [await quay.container([external]), await quay.container([external])];
    const ports = [quay.portOf(first), quay.portOf(second)];
    await quay.instance('a', (socket) => socket.write('hello'));
    const client = quay.dial(first);
    await once(client, 'data');
    const cut = closed(client);
    await quay.remove(first);
    await cut;
    await quay.container([{ ...exposed, type: 'internal' }], second);
    expect(await Promise.all(ports.map(isOpen))).toEqual([false, false]);
    expect(quay.log.size).toBe(0);
  });

  it('at the same number after a restart, and a leftover of a container that is gone is forgotten', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    const port = quay.portOf(container);
    await quay.log.put('00000000-0000-4000-8000-000000000000/web', { port: 1 });
    await quay.restart();
    expect(quay.portOf(container)).toBe(port);
    expect([...quay.log.entries()]).toEqual([[`${container.id}/web`, { port }]]);
    expect(quay.warnings).toEqual([]);
  });

  it('at another number, with a warning, when its own was taken meanwhile', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    const port = quay.portOf(container);
    await quay.ports.stop();
    const thief = createServer().listen(port, '127.0.0.1');
    await once(thief, 'listening');
    cleanUps.push(() => thief.close());
    quay.ports = quay.open();
    await quay.ports.start();
    const other = quay.portOf(container);
    expect(other).not.toBe(port);
    expect(quay.log.get(`${container.id}/web`)).toEqual({ port: other });
    expect(quay.warnings).toEqual([
      `port 'web' of container 'shop': port ${port} is not available (EADDRINUSE), so it uses port ${other} now`,
    ]);
  });

  it('or not at all, with a warning, where it cannot be', async () => {
    const quay = new Quay();
    await quay.ports.stop();
    quay.ports = quay.open({ host: '203.0.113.1' }); // no address of this machine
    const container = await quay.container([external]);
    expect(quay.ports.portOf(container.id, 'web')).toBeUndefined();
    expect(quay.warnings).toEqual([
      expect.stringMatching(/'shop' cannot be published on 203\.0\.113\.1: .*EADDRNOTAVAIL/),
    ]);
  });

  it('and stays the same while anything else of the container changes', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    const port = quay.portOf(container);
    const client = quay.dial(container);
    await quay.instance('a', (socket) => socket.pipe(socket));
    await quay.container([{ ...external, container_port: 9090 }], container);
    expect(quay.portOf(container)).toBe(port);
    client.end('still here');
    expect(await textOf(client)).toBe('still here');
  });
});

describe('a connection to a published port', () => {
  it('goes to the instances in turn', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    for (const name of ['a', 'b']) await quay.instance(name, (socket) => socket.end(name));
    const names = [];
    for (let at = 0; at < 4; at++) {
      const client = quay.dial(container);
      names.push(await textOf(client));
      client.destroy();
    }
    expect(names).toEqual(['a', 'b', 'a', 'b']);
  });

  it('carries any bytes both ways, and each side may finish before the other', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    // Answers only once the other side has said all.
    await quay.instance('a', (socket) => {
      void bytesOf(socket).then((bytes) => socket.end(bytes.reverse()));
    });
    const bytes = Buffer.alloc(3_000_000, Buffer.from([0, 255, 13, 10, 7]));
    const client = quay.dial(container);
    client.end(bytes);
    expect((await bytesOf(client)).equals(Buffer.from(bytes).reverse())).toBe(true);
  });

  it('passes over an instance that does not listen', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    const stoppedServer = await quay.instance('gone', () => {});
    await new Promise((resolve) => stoppedServer.close(resolve));
    await quay.instance('a', (socket) => socket.end('a'));
    for (let at = 0; at < 3; at++) {
      const client = quay.dial(container);
      expect(await textOf(client)).toBe('a');
      client.destroy();
    }
  });

  it('is reset when no instance serves', async () => {
    const quay = new Quay();
    const client = quay.dial(await quay.container([external]));
    const [fault] = await once(client, 'error');
    expect(fault).toMatchObject({ code: 'ECONNRESET' });
  });

  it('breaks off when its instance does, and at the instance when the client does', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    const served: Socket[] = [];
    await quay.instance('a', (socket) => {
      served.push(socket);
      socket.write('half');
    });
    const first = quay.dial(container);
    await once(first, 'data');
    const broken = once(first, 'error');
    served[0]?.resetAndDestroy();
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);

    const second = quay.dial(container);
    await once(second, 'data');
    const cut = closed(served[1]);
    served[1]?.resume();
    second.resetAndDestroy();
    await cut;
  });

  it('is left alone by a drain until its time is up; new ones go elsewhere', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    await quay.instance('a', (socket) => socket.write('a'));
    const old = quay.dial(container);
    await once(old, 'data');
    await quay.instance('b', (socket) => socket.end('b'));
    const drained = quay.ports.drain('a', 10 * 60_000);
    for (let at = 0; at < 2; at++) {
      const client = quay.dial(container);
      expect(await textOf(client)).toBe('b');
      client.destroy();
    }
    expect(old.closed).toBe(false);
    await Promise.all([quay.ports.drain('a', 1), drained, closed(old)]);
  });

  it('ends when the ports stop', async () => {
    const quay = new Quay();
    const container = await quay.container([external]);
    await quay.instance('a', (socket) => socket.write('a'));
    const client = quay.dial(container);
    await once(client, 'data');
    const cut = closed(client);
    await quay.ports.stop();
    await cut;
  });
});
