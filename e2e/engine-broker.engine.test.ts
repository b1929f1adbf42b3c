import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDockerBroker } from '../server/runtimes/pipelines/docker-broker.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';

let docker: Docker;
let foreign: Docker.Container;
let folder: string;
let broker: Awaited<ReturnType<typeof openDockerBroker>>;

beforeAll(async () => {
  docker = await requireEngine();
  foreign = await docker.createContainer({ Image: await testImage() });
  folder = await mkdtemp(join(tmpdir(), 'broker-'));
  // The engine has a URL here, no socket.
  const { socketPath } = docker.modem as unknown as { socketPath: string };
  broker = await openDockerBroker({
    path: join(folder, 'socket'),
    engine: { socketPath },
    mark: `broker-${process.pid}`,
    network: 'none',
  });
});
afterAll(async () => {
  broker?.close();
  await foreign?.remove();
  await rm(folder, { recursive: true });
});

/** Sends a request of a job to the engine. */
async function call(method: string, path: string, body?: object) {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const [status, answer] = await new Promise<[number, string]>((resolve, reject) => {
    const headers = sent === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': sent.length };
    request({ socketPath: join(folder, 'socket'), method, path, headers, agent: false })
      .on('response', (response) => text(response).then((all) => resolve([response.statusCode ?? 0, all]), reject))
      .on('error', reject)
      .end(sent);
  });
  return { status, body: answer === '' ? undefined : JSON.parse(answer) };
}

it('a job sees and changes only containers of its own run', async () => {
  const create = { Image: await testImage() };
  const { status, body: own } = await call('POST', '/containers/create', create);
  expect(status).toBe(201);
  try {
    const seen = (await call('GET', '/containers/json?all=1')).body;
    expect(seen.map(({ Id }: { Id: string }) => Id)).toEqual([own.Id]);
    expect((await call('GET', `/containers/${foreign.id}/json`)).status).toBe(404);
    expect((await call('POST', `/containers/${foreign.id}/rename?name=taken`)).status).toBe(404);
    expect((await call('GET', '/volumes')).status).toBe(403);
  } finally {
    expect((await call('DELETE', `/containers/${own.Id}`)).status).toBe(204);
  }
});

it.each([
  { Privileged: true },
  { Binds: ['/:/host'] },
  { Mounts: [{ Type: 'bind', Source: '/', Target: '/host' }] },
  { PortBindings: { '80/tcp': [{ HostPort: '0' }] } },
  { NetworkMode: 'host' },
  { NetworkMode: 'other' },
])('a job cannot create a container with %o', async (HostConfig) => {
  const { status, body } = await call('POST', '/containers/create', { Image: await testImage(), HostConfig });
  if (status === 201) await docker.getContainer(body.Id).remove();
  expect([status, body.message]).toEqual([403, expect.stringContaining(Object.keys(HostConfig)[0] ?? '')]);
});
