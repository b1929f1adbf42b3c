import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { json, startEngineServer } from '../../../testing/engine-server.ts';
import type { DockerConnection } from './docker-connection.ts';
import { DockerEngine } from './docker-engine.ts';

/** Longer than the limit of other calls in the test of stops. */
const SLOW_STOP_MS = 200;
const server = await startEngineServer();
const engine = new DockerEngine({ worldId: newWorldId(), stopSeconds: 7, connection: connectForTests(server.url) });
afterEach(() => server.reset());
afterAll(async () => {
  engine.close();
  await server.stop();
});

const container = (state: object = {}, more: object = {}) => ({
  Id: 'ab',
  State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z', ...state },
  ...{ Image: 'shop', Config: { Labels: {} }, HostConfig: {}, NetworkSettings: {}, ...more },
});
const answerWith = (...containers: { Id: string }[]) => {
  server.answer(/^\/containers\/json/, json(containers.map(({ Id }) => ({ Id, Created: 1 }))));
  for (const each of containers) server.answer(new RegExp(`^/containers/${each.Id}/json`), json(each));
};
const log = (text: string) => (response: ServerResponse) => {
  const line = `2026-01-01T00:00:00Z ${text}\n`;
  response.end(Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, line.length]), Buffer.from(line)]));
};

/** A connection to a server that does not speak ssh. */
async function connectOverSsh(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // as: a server on a TCP port has such an address
  const connection = connectForTests(`ssh://ada@127.0.0.1:${port}`, { limits: { beginMs: 600_000 } });
  onTestFinished(() => {
    connection.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { connection, connectionCount: () => sockets.length };
}
const listTwentyTimes = (connection: DockerConnection) =>
  Array.from({ length: 20 }, () => connection.ask((docker) => docker.listContainers()));

it('over ssh, a few requests connect at the same time, and the others afterwards', async () => {
  const open = new Set<Socket>();
  let maxOpen = 0;
  const { connection, connectionCount } = await connectOverSsh((socket) => {
    open.add(socket);
    maxOpen = Math.max(maxOpen, open.size);
    socket.on('close', () => open.delete(socket));
    // Not at once: the others could connect until then.
    setTimeout(() => socket.destroy(), 50);
  });
  const results = await Promise.allSettled(listTwentyTimes(connection));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(connectionCount()).toBe(20);
  expect(maxOpen).toBeLessThanOrEqual(8);
});

it('over ssh, requests use no URL that newer versions of Node.js reject', () => {
  const { docker } = connectForTests('ssh://ada@127.0.0.1');
  expect(docker.modem).toMatchObject({ host: expect.toSatisfy(URL.canParse) });
});

it('over ssh, requests that wait for their turn fail when the connection is closed, and do not connect', async () => {
  const { connection, connectionCount } = await connectOverSsh(() => undefined);
  const requests = Promise.allSettled(listTwentyTimes(connection));
  await expect.poll(connectionCount).toBe(8);
  connection.close();
  expect((await requests).every(({ status }) => status === 'rejected')).toBe(true);
  expect(connectionCount()).toBe(8);
});

it('an instance that is removed has the stop time of the setting to end', async () => {
  answerWith(container());
  await engine.remove(randomUUID());
  expect(server.requests).toContain('/containers/ab/stop?t=7');
});

it('a stop is not given up before the stop time has passed', async () => {
  const connection = connectForTests(server.url, { limits: { callMs: 1 } });
  server.answer(/\/stop/, (response) => setTimeout(() => response.writeHead(204).end(), SLOW_STOP_MS));
  await connection.ask((docker) => docker.getContainer('ab').stop({ t: 3_600 }));
  connection.close();
});

it('the log of a paused instance is followed', async () => {
  answerWith(container({ Paused: true }));
  const stop = await engine.follow(randomUUID(), () => undefined);
  await expect
    .poll(() => server.requests)
    .toContainEqual(expect.stringMatching(/^\/containers\/ab\/logs\?follow=true/));
  stop();
});

it('nothing is watched for a log whose instances cannot be listed', async () => {
  const ended: boolean[] = [];
  server.answer(/^\/events/, (response) => {
    response.writeHead(200).flushHeaders();
    response.on('close', () => ended.push(true));
  });
  server.answer(/^\/containers\/json/, json({ message: 'disk full' }, 500));
  await expect(engine.follow(randomUUID(), () => undefined)).rejects.toThrow('disk full');
  await expect.poll(() => ended).toEqual([true]);
});

it('only an instance whose program cannot run is ended by its platform', async () => {
  const exited = { Status: 'exited', Running: false, ExitCode: 1 };
  const image = { Image: 'foreign' };
  answerWith({ ...container(exited, image), Id: 'emulated' }, { ...container(exited, image), Id: 'refused' });
  server.answer(/^\/version/, json({ Version: '1', Os: 'linux', Arch: 'amd64' }));
  server.answer(/^\/images\/foreign/, json({ Os: 'linux', Architecture: 'arm64' }));
  server.answer(/^\/containers\/emulated\/logs/, log('no configuration'));
  server.answer(/^\/containers\/refused\/logs/, log('exec /shop: exec format error'));
  await engine.ping();
  const platforms = { image: 'linux/arm64', engine: 'linux/amd64' };
  const instances = await engine.list();
  expect(instances).toMatchObject([{ id: 'emulated' }, { id: 'refused', platforms }]);
  expect(instances[0]).not.toHaveProperty('platforms');
});

it('an image whose platform the engine does not tell hides no instance', async () => {
  answerWith(container({ Status: 'exited', Running: false, ExitCode: 1 }, { Image: 'other' }));
  server.answer(/^\/version/, json({ Version: '1', Os: 'linux', Arch: 'amd64' }));
  server.answer(/^\/containers\/ab\/logs/, log('exec format error'));
  for (const answer of [(response: ServerResponse) => void response.destroy(), json({ Os: '', Architecture: '' })]) {
    server.answer(/^\/images\/other/, answer);
    await engine.ping();
    const [instance] = await engine.list();
    expect(instance).toMatchObject({ id: 'ab' });
    expect(instance).not.toHaveProperty('platforms');
  }
});
