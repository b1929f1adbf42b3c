import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDockerBroker } from '../server/runtimes/pipelines/docker-broker.ts';
import { callBuildKit, field } from '../server/testing/buildkit-client.ts';
import { requireEngine, testImage, testImageOf } from '../server/testing/engine.ts';

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
    world: { worldId: `broker-${process.pid}` },
    network: 'none',
    project: 'group/project',
    registries: ['127.0.0.1:4703'],
    imageIds: new Map(),
  });
});
afterAll(async () => {
  broker?.close();
  await foreign?.remove();
  await rm(folder, { recursive: true });
});

/** Sends a request of a job to the engine. */
async function call(method: string, path: string, body?: object) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const [status, answer] = await new Promise<[number, string]>((resolve, reject) => {
    const headers =
      payload === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': payload.length };
    request({ socketPath: join(folder, 'socket'), method, path, headers, agent: false })
      .on('response', (response) => text(response).then((all) => resolve([response.statusCode ?? 0, all]), reject))
      .on('error', reject)
      .end(payload);
  });
  return { status, body: answer.startsWith('{') || answer.startsWith('[') ? JSON.parse(answer) : answer };
}

it('a job sees and changes only containers of its own run', async () => {
  const create = { Image: await testImage() };
  const { status, body: ownContainer } = await call('POST', '/containers/create', create);
  expect(status).toBe(201);
  try {
    const visibleContainers = (await call('GET', '/containers/json?all=1')).body;
    expect(visibleContainers.map(({ Id }: { Id: string }) => Id)).toEqual([ownContainer.Id]);
    expect((await call('GET', `/containers/${foreign.id}/json`)).status).toBe(404);
    expect((await call('POST', `/containers/${foreign.id}/rename?name=taken`)).status).toBe(404);
    expect((await call('GET', '/volumes')).status).toBe(403);
  } finally {
    expect((await call('DELETE', `/containers/${ownContainer.Id}`)).status).toBe(204);
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

it('the body of a request that needs none does not reach the engine', async () => {
  const { body: ownContainer } = await call('POST', '/containers/create', {
    Image: await testImage(),
    Cmd: ['sleep', '60'],
  });
  try {
    const attack = { Binds: ['/:/host'], NetworkMode: 'host', PidMode: 'host' };
    for (const version of ['', '/v1.12', '/v1.23', '/v1.41'])
      await call('POST', `${version}/containers/${ownContainer.Id}/start`, attack);
    const { HostConfig, Mounts, State } = await docker.getContainer(ownContainer.Id).inspect();
    expect([HostConfig.Binds, HostConfig.NetworkMode, HostConfig.PidMode, Mounts]).toEqual([null, 'none', '', []]);
    expect(State.Running).toBe(true);
  } finally {
    await docker.getContainer(ownContainer.Id).remove({ force: true });
  }
});

it('a container of a job has the masked and read-only paths of the engine', async () => {
  const Image = await testImage();
  for (const HostConfig of [
    { MaskedPaths: [], ReadonlyPaths: [] },
    { MaskedPaths: [] },
    { ReadonlyPaths: [] },
    { readonlypaths: [] },
  ]) {
    const { status, body } = await call('POST', '/containers/create', { Image, HostConfig });
    const created = status === 201 ? await docker.getContainer(body.Id).inspect() : undefined;
    await docker
      .getContainer(body.Id ?? 'none')
      .remove()
      .catch(() => undefined);
    expect(created?.HostConfig.ReadonlyPaths ?? ['/proc/sys']).toContain('/proc/sys');
    expect(created?.HostConfig.MaskedPaths ?? ['/proc/kcore']).toContain('/proc/kcore');
  }
});

it('a job neither removes, replaces nor saves an image that its run did not make', async () => {
  const name = `terrarium-test/broker-${process.pid}`;
  const { Id } = await docker.getImage(await testImage()).inspect();
  await docker.getImage(Id).tag({ repo: name, tag: '1' });
  const idNow = () =>
    docker
      .getImage(`${name}:1`)
      .inspect()
      .then(
        (image) => image.Id,
        () => undefined,
      );
  try {
    await call('POST', `/images/create?fromImage=${name}&tag=1`);
    expect((await call('DELETE', `/images/${name}:1`)).status).toBe(200);
    expect(await idNow()).toBe(Id);
    expect((await call('POST', `/images/${await testImageOf([], docker)}/tag?repo=${name}&tag=1`)).status).toBe(403);
    expect(await idNow()).toBe(Id);
    expect((await call('GET', `/images/${name}:1/get`)).status).toBe(403);
  } finally {
    await docker
      .getImage(`${name}:1`)
      .remove()
      .catch(() => undefined);
  }
});

it('a build with BuildKit reaches the engine, and the list of all builds of the machine does not', async () => {
  const call = (name: string, message?: Buffer) =>
    callBuildKit(join(folder, 'socket'), `/moby.buildkit.v1.Control/${name}`, message);
  expect(await call('ListWorkers')).toMatchObject({ status: '0' });
  // BuildKit does not know the frontend.
  expect((await call('Solve', Buffer.concat([field(1, 'broker'), field(6, 'none.v0')]))).message).toContain('none.v0');
  expect(await call('DiskUsage')).toMatchObject({ status: '7' });
});
