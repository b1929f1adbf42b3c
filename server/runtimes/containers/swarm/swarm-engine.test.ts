import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json as jsonOf } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { json, startEngineServer } from '../../../testing/engine-server.ts';
import type { Workload } from '../engine.ts';
import { SwarmEngine } from './swarm-engine.ts';

const server = await startEngineServer();
const clientFolder = await mkdtemp(join(tmpdir(), 'docker-client-'));
const user = { env: { DOCKER_CONFIG: clientFolder }, homeDir: undefined };
const worldId = newWorldId();
const engine = new SwarmEngine({ worldId, stopSeconds: 7, connection: connectForTests(server.url, { user }) });
afterEach(() => server.reset());
afterAll(async () => {
  engine.close();
  await server.stop();
  await rm(clientFolder, { recursive: true });
});

const service = (ID: string) => ({ ID, Version: { Index: 1 }, Spec: { Labels: {}, Mode: {} } });
const node = (name: string, cpus: number) => ({
  ID: name,
  Description: { Hostname: name, Resources: { NanoCPUs: cpus * 1e9 } },
  Spec: { Availability: 'active' },
  Status: { Addr: '10.0.0.1', State: 'ready' },
});
const task = {
  ID: 'task',
  ServiceID: 'kept',
  CreatedAt: '2026-01-01T00:00:00Z',
  DesiredState: 'running',
  Spec: { ContainerSpec: { Image: 'shop:1' } },
  Status: { State: 'running', Timestamp: '2026-01-01T00:00:00Z' },
};
const workload: Workload = {
  recordId: randomUUID(),
  kind: 'container',
  name: 'shop',
  environmentId: randomUUID(),
  providerId: randomUUID(),
  revision: '1',
  instances: 0,
  image: 'registry.example/shop:1',
  forcePull: false,
  command: undefined,
  user: undefined,
  env: {},
  labels: {},
  cpus: 64,
  memoryBytes: 32 * 1024 * 1024,
  ports: [],
  aliases: [],
  mounts: [],
  files: [],
  health: undefined,
};
/** Creates the service of a workload. Returns the request. */
async function createService(
  swarmEngine = engine,
  changes: Partial<Workload> = {},
): Promise<{ headers: IncomingHttpHeaders; body: Docker.CreateServiceOptions }> {
  let requested: Promise<{ headers: IncomingHttpHeaders; body: unknown }> | undefined;
  server.answer(/^\/services\/create/, async (response) => {
    requested = jsonOf(response.req).then((body) => ({ headers: response.req.headers, body }));
    await requested;
    json({ ID: 'shop' })(response);
  });
  await swarmEngine.apply(
    { ...workload, ...changes },
    {
      signal: new AbortController().signal,
      whenReady: async () => undefined,
      beforeRemoval: async () => undefined,
    },
  );
  return (await requested) as Awaited<ReturnType<typeof createService>>;
}

it('a service has the credentials that the nodes pull its image with', async () => {
  const auth = Buffer.from('ada:secret').toString('base64');
  await writeFile(join(clientFolder, 'config.json'), JSON.stringify({ auths: { 'registry.example': { auth } } }));
  const { headers } = await createService();
  expect(JSON.parse(Buffer.from(String(headers['x-registry-auth']), 'base64').toString())).toEqual({
    username: 'ada',
    password: 'secret',
    serveraddress: 'registry.example',
  });
});

it('a service has the stop time of the setting, and at most the CPUs of the smallest node that gets instances', async () => {
  const drained = { ...node('drained', 1), Spec: { Availability: 'drain' } };
  const down = { ...node('down', 1), Status: { State: 'down' } };
  server.answer(/^\/nodes/, json([drained, down, node('large', 8), node('small', 2)]));
  const { body } = await createService();
  expect(body.TaskTemplate).toMatchObject({
    ContainerSpec: { StopGracePeriod: 7e9 },
    Resources: { Limits: { NanoCPUs: 2e9 } },
  });
});

it('services and files of two worlds with the same records have different names, which are not too long', async () => {
  const copy = new SwarmEngine({ worldId: newWorldId(), stopSeconds: 7, connection: connectForTests(server.url) });
  onTestFinished(() => copy.close());
  server.answer(/^\/configs\/create/, json({ ID: 'file' }));
  const changes = { name: 'a'.repeat(100), files: [{ path: '/etc/shop', content: Buffer.from('open') }] };
  const names: (string | undefined)[] = [];
  for (const each of [engine, copy]) {
    const { Name, TaskTemplate } = (await createService(each, changes)).body;
    names.push(Name, Object(TaskTemplate).ContainerSpec.Configs[0].ConfigName);
  }
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^.{20,63}$/);
});

it.each([
  [{ Test: ['CMD', 'true'] }, 'healthy'],
  [{ Test: ['NONE'] }, 'none'],
])('an instance of an image with the HEALTHCHECK %j is %s', async (Healthcheck, health) => {
  server.answer(/^\/services/, json([service('kept')]));
  const image = `shop:${health}`;
  server.answer(/^\/tasks/, json([{ ...task, Spec: { ContainerSpec: { Image: image } } }]));
  server.answer(new RegExp(`/images/${image}/json`), json({ Config: { Healthcheck } }));
  expect(await engine.list()).toMatchObject([{ id: 'task', health }]);
});

it('a service that is removed after it was listed does not hide the instances of others', async () => {
  server.answer(/^\/services/, json([service('kept'), service('removed')]));
  server.answer(/^\/tasks/, json([task]));
  server.answer(/^\/tasks.*removed/, json({ message: 'service removed not found' }, 404));
  expect(await engine.list()).toMatchObject([{ id: 'task', state: 'running' }]);
});

it('a removal of the only service after it was listed leaves no instances', async () => {
  server.answer(/^\/services/, json([service('removed')]));
  expect(await engine.list()).toEqual([]);
});
