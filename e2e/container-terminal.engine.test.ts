import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { sessionKeyProtocol } from '../server/model/session-key.ts';
import { type Account, makeAccount, rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/client.ts';
import { expectNoLeftovers, IDLE, requireEngine, testImage, testImageOf } from '../server/testing/engine.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, entitlementOf, grant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { timeout: 120_000, interval: 50 };
const PROTOCOL = 'terrarium.terminal';

/** Processes in the container without a terminal. */
let idle: string[];

const docker = new Docker();
let platform: Platform;
let tenant: Tenant;
let make: ResourceFactory;
let container: Body;
let colleague: Account;

beforeAll(async () => {
  await requireEngine();
  const image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto', onStop: 'remove' } });
  make = resourceFactoryFor(platform.root);
  tenant = await createTenant(platform.root, 'acme');
  container = await running({ image, cmd: IDLE });
  idle = await commandsIn(container);
  colleague = await makeAccount(platform, 'grace', '/acme');
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNoLeftovers(worldId);
});

async function running(properties: object): Promise<Body> {
  const createdContainer = await make.container(tenant, { memory: 32, ...properties });
  await vi.waitFor(async () => {
    const { body } = await platform.root.get(`/root/containers/${createdContainer.id}`);
    expect(body.properties.status).toBe('RUNNING');
  }, POLL);
  return createdContainer;
}

const addressOf = ({ id }: Body, query = '') =>
  `${platform.emulator.baseUrl.replace('http', 'ws')}/inspect/containers/${id}/terminal${query}`;
const asRoot = () => ({ headers: { authorization: rootPairOf(platform) } });

const viewers: Viewer[] = [];
afterEach(() => {
  for (const { socket } of viewers.splice(0)) socket.terminate();
});

/** A viewer that records its messages; it acknowledges output only on request. */
class Viewer {
  readonly socket: WebSocket;
  text = '';
  bytes = 0;
  end: Body;

  constructor(address: string, options: object, protocols = [PROTOCOL]) {
    this.socket = new WebSocket(address, protocols, options);
    viewers.push(this);
    this.socket.on('message', (data: Buffer, isOutput) => {
      if (!isOutput) this.end = JSON.parse(String(data));
      else {
        this.text += data;
        this.bytes += data.length;
      }
    });
  }

  async open(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  sendMessage(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  until(pattern: RegExp): Promise<void> {
    return expect.poll(() => this.text, POLL).toMatch(pattern);
  }

  /** Close code, and the messages before. */
  async closed(): Promise<[code: number, end: Body]> {
    const [code] = this.socket.readyState === WebSocket.CLOSED ? [0] : await once(this.socket, 'close');
    return [code, this.end];
  }
}
const openAt = (address: string, options: object = asRoot()) => new Viewer(address, options).open();

/** The HTTP answer to a handshake that is refused. */
async function rejectionOf(address: string, options: object, protocols = [PROTOCOL]): Promise<[number, string]> {
  const socket = new WebSocket(address, protocols, options);
  socket.on('error', () => {});
  const [, answer]: [unknown, IncomingMessage] = await Promise.race([
    once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>,
    once(socket, 'open').then(() => Promise.reject(new Error('it was opened'))),
  ]);
  let body = '';
  for await (const piece of answer) body += piece;
  return [answer.statusCode ?? 0, JSON.parse(body).message];
}

const commandsIn = async ({ id }: Body) => {
  const [found] = await docker.listContainers({ filters: { label: [`terrarium.record=${id}`] } });
  const { Processes } = await docker.getContainer(found?.Id ?? '').top();
  return Processes.map((processFields: string[]) => processFields.at(-1) ?? '');
};

describe('who may open a terminal', () => {
  it('gets an HTTP response before there is a WebSocket', async () => {
    const address = addressOf(container);
    expect(await rejectionOf(address, {})).toEqual([401, 'Authentication required']);
    const wrong = { headers: { authorization: 'Bearer unknown' } };
    expect(await rejectionOf(address, wrong)).toEqual([401, 'Authentication required']);
    // The permission to view is not sufficient.
    await grant(platform.root, `/root/containers/${container.id}`, 'container.view', colleague.id);
    const seeing = { headers: { authorization: colleague.bearer } };
    expect(await rejectionOf(address, seeing)).toEqual([403, expect.stringContaining('container.update')]);
    expect(await rejectionOf(addressOf({ id: tenant.environmentId }), asRoot())).toMatchObject([
      404,
      expect.any(String),
    ]);
    expect(await rejectionOf(addressOf(container, '?columns=0'), asRoot())).toMatchObject([400, expect.any(String)]);
    expect(await rejectionOf(addressOf(container, '?instance=none'), asRoot())).toEqual([
      409,
      'this instance of the container is not running',
    ]);
    const plain = await send('GET', address.replace('ws', 'http'), { auth: rootPairOf(platform) });
    expect(plain).toMatchObject({ status: 426, body: { message: expect.stringContaining('WebSocket') } });
  });

  it('is a page of our own with cookie and key, and no other page', async () => {
    const { baseUrl, windowUrl } = platform.emulator;
    const key = 'k'.repeat(64);
    const code = new URL(windowUrl()).searchParams.get('code');
    const { headers } = await send('POST', `${baseUrl}/inspect/session`, { body: { code, key } });
    const cookie = headers.getSetCookie()[0]?.split(';')[0];
    const from = (origin: string) => ({ headers: { cookie, origin } });
    const withKey = [PROTOCOL, sessionKeyProtocol(key)];
    const address = addressOf(container);
    for (const origin of ['http://foreign.example', 'null', baseUrl.replace(/\d+$/, '1')]) {
      expect(await rejectionOf(address, from(origin), withKey)).toMatchObject([403, expect.any(String)]);
      // Credentials that a browser would send by itself open none either.
      const requestOptions = { headers: { authorization: rootPairOf(platform), origin } };
      expect(await rejectionOf(address, requestOptions)).toMatchObject([403, expect.any(String)]);
    }
    expect(await rejectionOf(address, { headers: { cookie } }, withKey)).toMatchObject([403, expect.any(String)]);
    expect(await rejectionOf(address, from(baseUrl))).toMatchObject([401, expect.any(String)]);
    const stranger = { headers: { ...from(baseUrl).headers, host: 'foreign.example' } };
    expect(await rejectionOf(address, stranger, withKey)).toMatchObject([403, expect.any(String)]);

    const viewer = await new Viewer(address, from(baseUrl), withKey).open();
    expect(viewer.socket.protocol).toBe(PROTOCOL);
    viewer.type('echo "I am $((40 + 2))"\n');
    await viewer.until(/I am 42/);
    // After sign-out, the terminal is closed.
    const sessionHeaders = { cookie: String(cookie), origin: baseUrl, 'x-terrarium-session-key': key };
    await fetch(`${baseUrl}/inspect/session`, { method: 'DELETE', headers: sessionHeaders });
    viewer.type('echo gone\n');
    expect(await viewer.closed()).toEqual([1008, { ended: 'refused', message: 'Authentication required' }]);
  });

  it('needs the permission, as long as it is open', async () => {
    const node = `/root/containers/${container.id}`;
    await grant(platform.root, node, 'container.update', colleague.id);
    const viewer = await openAt(addressOf(container), { headers: { authorization: colleague.bearer } });
    viewer.type('echo with"out" rights\n');
    await viewer.until(/without rights/);
    const { id, properties } = await entitlementOf(platform.root, node, 'container.update');
    const identities = properties.identities.filter((identity: Body) => identity.id !== colleague.id);
    await platform.root.put(`/root/entitlements/${id}`, { properties: { ...properties, identities } });
    viewer.type('touch /tmp/too-late\n');
    const [code, end] = await viewer.closed();
    expect(code).toBe(1008);
    expect(end).toMatchObject({ ended: 'refused', message: expect.stringContaining('container.update') });
    await expect.poll(() => commandsIn(container), POLL).toEqual(idle);
  });
});

describe('a terminal', () => {
  it('has the width and height of its viewer, and reports how its shell ended', async () => {
    const viewer = await openAt(addressOf(container, '?columns=91&rows=17'));
    viewer.type('busybox stty size\n');
    await viewer.until(/\r\n17 91\r\n/);
    viewer.sendMessage({ columns: 120, rows: 40 });
    // The size reaches the engine on another way than input. An arrow key, which begins with Esc, is the previous line.
    const again = () => {
      viewer.type('\u001b[A\n');
      return viewer.text;
    };
    await expect.poll(again, { ...POLL, interval: 500 }).toMatch(/\r\n40 120\r\n/);
    viewer.type('exit 7\n');
    expect(await viewer.closed()).toEqual([
      1000,
      { ended: 'exited', exitCode: 7, message: 'The shell has ended with exit code 7.' },
    ]);
  });

  it('ends its shell, and what runs in it, when its viewer goes', async () => {
    const viewer = await openAt(addressOf(container));
    viewer.type('sleep 7777\n');
    await expect.poll(() => commandsIn(container), POLL).toContain('sleep 7777');
    viewer.socket.terminate();
    await expect.poll(() => commandsIn(container), POLL).toEqual(idle);
  });

  it('kills a shell that does not end on hangup', async () => {
    const viewer = await openAt(addressOf(container));
    viewer.type('trap \'\' HUP; echo dea"f"\n');
    await viewer.until(/\r\ndeaf/);
    viewer.socket.terminate();
    await expect.poll(() => commandsIn(container), POLL).toEqual(idle);
  });

  it('waits for a viewer that is slow', async () => {
    const viewer = await openAt(addressOf(container));
    viewer.type(
      'awk \'BEGIN { while (n++ < 30000) print "a line of thirty-two bytes, or so"; print "the e" "nd" }\'\n',
    );
    await expect.poll(() => viewer.bytes, POLL).toBeGreaterThanOrEqual(256 * 1024);
    const receivedBytes = viewer.bytes;
    expect(receivedBytes).toBeLessThan(512 * 1024);
    viewer.type(':\n'); // a shell that waits is still spoken to
    viewer.sendMessage({ shown: receivedBytes });
    await expect.poll(() => viewer.bytes, POLL).toBeGreaterThan(receivedBytes);
    viewer.sendMessage({ shown: 10 ** 9 });
    await expect.poll(() => viewer.bytes, POLL).toBeGreaterThan(receivedBytes + 256 * 1024);
    const show = setInterval(() => viewer.sendMessage({ shown: viewer.bytes }), 20);
    await viewer.until(/the end/);
    clearInterval(show);
    viewer.sendMessage({ rows: 1 });
    expect(await viewer.closed()).toMatchObject([1008, { ended: 'refused' }]);
  });

  it('reports that the container was stopped', async () => {
    const short = await running({ image: await testImage(), cmd: 'while ! test -e /tmp/enough; do sleep 0.1; done' });
    const viewer = await openAt(addressOf(short));
    viewer.type('touch /tmp/enough\n');
    const [code, end] = await viewer.closed();
    expect([code, end]).toMatchObject([1000, { ended: 'stopped', message: 'The container has stopped.' }]);
    await platform.root.delete(`/root/containers/${short.id}`);
  });

  it('says what to do if an image has no shell', async () => {
    const bare = await running({ image: await testImageOf(['sleep'], docker) });
    const [code, end] = await (await openAt(addressOf(bare))).closed();
    expect(code).toBe(1008);
    expect(end).toMatchObject({ ended: 'refused', message: expect.stringMatching(/no \/bin\/sh.*Build it from/) });
    await platform.root.delete(`/root/containers/${bare.id}`);
  });

  it('is refused when four of its user are open, and all end with the platform', async () => {
    await expect.poll(() => commandsIn(container), POLL).toEqual(idle);
    const open = await Promise.all(Array.from({ length: 4 }, () => openAt(addressOf(container))));
    expect(await rejectionOf(addressOf(container), asRoot())).toMatchObject([429, expect.any(String)]);
    const closed = Promise.all(open.map((viewer) => viewer.closed()));
    await platform.stop();
    for (const closeResult of await closed)
      expect(closeResult).toEqual([1001, { ended: 'closing', message: 'The platform is stopping.' }]);
  });
});
