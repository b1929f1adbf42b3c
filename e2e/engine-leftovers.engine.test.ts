import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepWorlds } from '../server/runtimes/containers/docker/leftovers.ts';
import { JobEngine } from '../server/runtimes/pipelines/job-engine.ts';
import { type Owner, ownerHere } from '../server/system/owner.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';
import {
  connectForTests,
  expectNoLeftovers,
  IDLE,
  leftoversOf,
  requireEngine,
  testImage,
} from '../server/testing/engine.ts';
import { startPlatform } from '../server/testing/platform.ts';
import { removeTestWorld } from '../server/testing/remove-test-world.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant } from '../server/testing/tenant.ts';

const LIMIT_MS = 180_000;
const POLL = { interval: 100 };
/** More than are removed at the same time. */
const CONTAINER_COUNT = 20;
/** Number of running containers that ignore a stop request. */
const STUBBORN = 4;

let docker: Awaited<ReturnType<typeof requireEngine>>;
let image: string;
let command: CliRunner;
let folder: string;
/** Worlds of this file: the tests remove nothing else. */
const worlds: string[] = [];

beforeAll(async () => {
  docker = await requireEngine();
  image = await testImage();
  await buildCommand();
  command = new CliRunner();
  folder = await mkdtemp(join(tmpdir(), 'terrarium-leftovers-'));
});
afterAll(async () => {
  await Promise.all(worlds.map(removeTestWorld));
  await command?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Creates the leftovers of a world with an owner: a container, a network and a volume. */
async function leave(owner: Owner | undefined): Promise<string> {
  const world = randomUUID();
  worlds.push(world);
  const Labels = { 'terrarium.world': world, ...(owner && { 'terrarium.owner': JSON.stringify(owner) }) };
  const name = `terrarium-test-${world}`;
  await docker.createNetwork({ Name: name, Labels });
  await docker.createVolume({ Name: name, Labels });
  const Mounts = [{ Type: 'volume' as const, Source: name, Target: '/data' }];
  const container = await docker.createContainer({
    name,
    Image: image,
    Cmd: ['sh', '-c', IDLE],
    Labels,
    HostConfig: { NetworkMode: name, Mounts },
  });
  await container.start();
  return world;
}

/** A process that has just ended: its id is not in use. */
async function endedOwner(dataDir?: string): Promise<Owner> {
  const child = spawn('true');
  await once(child, 'exit');
  return { ...(await ownerHere(dataDir)), pid: child.pid ?? 0 };
}

describe('the network of an ended run that others still use', () => {
  let world: string;
  let user: Awaited<ReturnType<typeof docker.createContainer>>;

  beforeAll(async () => {
    world = await leave(await endedOwner());
    user = await docker.createContainer({
      Image: image,
      Cmd: ['sleep', '3600'],
      HostConfig: { NetworkMode: `terrarium-test-${world}` },
    });
    await user.start();
  });
  afterAll(() => user.remove({ force: true }));

  it('does not keep a pipeline from starting', async () => {
    const engine = await JobEngine.find(process.env);
    if ('absence' in engine) throw new Error(engine.absence);
    engine.connection.close();
    expect(await leftoversOf(world)).toHaveLength(1);
  });

  it('ends a sweep before its limit, so that a platform that is stopped ends', async () => {
    const connection = connectForTests();
    await sweepWorlds(connection, LIMIT_MS);
    connection.close();
    expect(await leftoversOf(world)).toHaveLength(1);
  });
});

describe('a stop', () => {
  it(`removes ${CONTAINER_COUNT} containers, some of which do not end by themselves, and their network, within its limit`, async () => {
    const platform = await startPlatform({ containers: { engine: 'auto' } });
    const { worldId } = platform.emulator;
    worlds.push(worldId);
    const tenant = await createTenant(platform.root, 'acme');
    const make = resourceFactoryFor(platform.root);
    const stubborn = { image, args: ['sleep', '3600'], memory: 6, cpus: 0.05 };
    await Promise.all(Array.from({ length: STUBBORN }, () => make.container(tenant, stubborn)));
    const running = async () =>
      (await platform.root.get('/acme/containers?expand=true')).body.filter(
        (record: Body) => record.properties.status === 'RUNNING',
      ).length;
    await expect.poll(running, { timeout: LIMIT_MS, interval: 100 }).toBe(STUBBORN);
    // The other containers never ran, but also belong to the world.
    const Labels = { 'terrarium.world': worldId };
    const idle = { Image: image, Cmd: ['sleep', '3600'], Labels };
    await Promise.all(Array.from({ length: CONTAINER_COUNT - STUBBORN }, () => docker.createContainer(idle)));
    expect((await leftoversOf(worldId)).length).toBeGreaterThan(CONTAINER_COUNT);
    // It rejects with EngineLeftovers when its limit is reached.
    await platform.stop();
    await expectNoLeftovers(worldId);
  });

  it('leaves nothing of an operation that was in progress', async () => {
    const platform = await startPlatform({ containers: { engine: 'auto' } });
    const tenant = await createTenant(platform.root, 'acme');
    const make = resourceFactoryFor(platform.root);
    await Promise.all(Array.from({ length: 6 }, () => make.container(tenant, { image, memory: 6, num_instances: 2 })));
    await platform.stop();
    await expectNoLeftovers(platform.emulator.worldId);
  });

  it('removes volumes of a world in memory, which would be orphaned otherwise', async () => {
    const platform = await startPlatform({ containers: { engine: 'auto' } });
    const tenant = await createTenant(platform.root, 'acme');
    const volumes = [
      { mount_path: '/data', volume_resource: { name: 'data', properties: { type: 'persistent', size: 1 } } },
    ];
    const container: Body = await resourceFactoryFor(platform.root).container(tenant, { image, memory: 6, volumes });
    const status = async () => (await platform.root.get(`/root/containers/${container.id}`)).body.properties.status;
    await expect.poll(status, POLL).toBe('RUNNING');
    expect(await leftoversOf(platform.emulator.worldId)).toHaveLength(3);
    await platform.stop();
    await expectNoLeftovers(platform.emulator.worldId);
  });
});

describe('what worlds in memory left whose process was killed', () => {
  let neighbour: ChildProcess;
  beforeAll(() => {
    neighbour = spawn('sleep', ['600']);
  });
  afterAll(() => neighbour.kill());

  it('is swept by the next start that reaches the engine; what may still be wanted is not', async () => {
    const currentOwner = await ownerHere(undefined);
    const dead = await endedOwner();
    const [goneWorld, reused, ownWorld, alive, elsewhere, earlier, keptWorld, nameless] = [
      await leave(dead),
      // The process id is in use by another process.
      await leave({ ...currentOwner, pid: neighbour.pid ?? 0, began: '1' }),
      await leave(currentOwner),
      await leave({ ...currentOwner, pid: neighbour.pid ?? 0, began: await startTimeOf(neighbour.pid ?? 0) }),
      await leave({ ...dead, pids: 'pid:[1]' }),
      await leave({ ...dead, boot: randomUUID() }),
      await leave(await endedOwner(join(folder, 'no-such-folder'))),
      await leave(undefined),
    ];
    const platform = await startPlatform({ containers: { engine: 'auto' } });
    await createTenant(platform.root, 'acme');
    for (const world of [goneWorld, reused]) await expect.poll(() => leftoversOf(world), POLL).toEqual([]);
    await platform.stop();
    for (const world of [ownWorld, alive, elsewhere, earlier, keptWorld, nameless])
      expect(await leftoversOf(world), world).toHaveLength(3);
  });

  it('is left behind by a killed `terrarium exec`', async () => {
    const script = join(folder, 'create.mjs');
    await writeFile(script, CREATE);
    const run = command.start(['exec', '--seed', 'empty', '--', process.execPath, script, image]);
    const output = await run.waitForOutput('world ');
    const world = /world (\S+)/.exec(output)?.[1] ?? '';
    worlds.push(world);
    expect((await leftoversOf(world)).length).toBeGreaterThanOrEqual(2);
    run.child.kill('SIGKILL');
    await run.ended;
    const platform = await startPlatform({ containers: { engine: 'auto' } });
    await createTenant(platform.root, 'acme');
    await expect.poll(() => leftoversOf(world), POLL).toEqual([]);
    await platform.stop();
  });
});

describe('terrarium clean', () => {
  it('lists leftovers, says why each can be removed or not, and removes them with --yes', async () => {
    const data = join(folder, 'data');
    const keptWorld = await leave(await endedOwner(data));
    await mkdir(data);
    await writeFile(join(data, 'world.json'), JSON.stringify({ format: 1, id: keptWorld }));
    const [goneWorld, lives, mayLive, unknown] = [
      await leave(await endedOwner(join(folder, 'deleted'))),
      await leave(await ownerHere(undefined)),
      // The start time of its process is unknown.
      await leave({ ...(await ownerHere(join(folder, 'moved'))), began: '' }),
      await leave(undefined),
    ];
    const listed = await command.json('clean');
    const stateOf = (answer: Body, world: string) =>
      answer.worlds.find(({ worldId }: { worldId: string }) => worldId === world);
    for (const [world, state, why] of [
      [keptWorld, 'kept', data],
      [goneWorld, 'gone', 'no longer contains it'],
      [lives, 'runs', String(process.pid)],
      [mayLive, 'unknown', `process ${process.pid} may run it`],
      [unknown, 'unknown', 'creator is unknown'],
    ] as const) {
      expect(stateOf(listed, world)).toMatchObject({ state, why: expect.stringContaining(why), removed: false });
      expect(stateOf(listed, world).left).toMatchObject({
        containers: [`terrarium-test-${world}`],
        networks: [`terrarium-test-${world}`],
        volumes: [`terrarium-test-${world}`],
      });
    }
    expect((await command.run(['clean'])).out).toContain('npx terrarium-emulator clean --yes');
    for (const world of [keptWorld, goneWorld, lives, unknown]) expect(await leftoversOf(world)).toHaveLength(3);

    // One world at a time, because other test runs on this machine have worlds of their own.
    expect(stateOf(await command.json('clean', '--yes', '--world', goneWorld), goneWorld)).toMatchObject({
      removed: true,
    });
    expect(await leftoversOf(goneWorld)).toEqual([]);
    for (const world of [keptWorld, lives]) {
      const refused = await command.run(['clean', '--yes', '--world', world]);
      expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining(`world ${world} was not removed`)]);
      expect(await leftoversOf(world)).toHaveLength(3);
    }
    expect((await command.run(['clean', '--yes', '--world', unknown])).exitCode).toBe(0);
    expect(await leftoversOf(unknown)).toEqual([]);
  });

  it('says where no engine answers, with exit code 2', async () => {
    const refused = await command.run(['clean', '--engine', `unix://${join(folder, 'none.sock')}`]);
    expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining('the socket does not exist')]);
  });
});

async function startTimeOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Creates a container in the platform that `exec` started, and waits until it runs. Then it waits to be killed. */
const CREATE = `
const { TERRARIUM_META_URL: meta, TERRARIUM_API_KEY: key, TERRARIUM_API_SECRET: secret } = process.env;
const headers = { authorization: 'Basic ' + btoa(key + ':' + secret), 'content-type': 'application/json' };
const call = async (method, path, body) => {
  const answer = await fetch(meta + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(path + ': ' + (await answer.text()));
  return answer.json();
};
await call('POST', '/root/providers/initialize', {});
const provider = (await call('GET', '/root/providers')).find(({ name }) => name === 'default-docker');
await call('POST', '/root', { name: 'org' });
const { id: ws } = await call('POST', '/org/workspaces', { name: 'ws' });
const { id: env } = await call('POST', '/org/workspaces/' + ws + '/environments', {
  name: 'env', properties: { environment_type: 'development' },
});
const { id } = await call('POST', '/org/environments/' + env + '/containers', {
  name: 'app',
  properties: { container_type: 'DOCKER', image: process.argv[2], provider: { id: provider.id }, memory: 6 },
});
for (;;) {
  const { properties } = await call('GET', '/org/containers/' + id);
  if (properties.status === 'RUNNING') break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const { execFileSync } = await import('node:child_process');
const label = '{{ index .Config.Labels "terrarium.world" }}';
const instance = execFileSync('docker', ['ps', '-q', '--filter', 'label=terrarium.record=' + id]).toString().trim();
console.log('world ' + execFileSync('docker', ['inspect', '-f', label, instance]).toString().trim());
setInterval(() => process.ppid === 1 && process.exit(), 200);
`;
