import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EngineDoor, makeEngineDoor } from '../server/containers/docker/engine-door-for-tests.ts';
import { demandEngine, expectNothingLeft, testImage } from '../server/containers/docker/engine-for-tests.ts';
import { type Maker, makerFor } from './maker.ts';
import { type Body, makePlace, type Place } from './place.ts';
import { type Platform, startPlatform, type Voice } from './platform.ts';

const LIMIT_MS = 120_000;
const POLL = { timeout: 60_000, interval: 50 };
/** Several times what an engine is asked for at once. */
const MANY = 20;
/** Ends at once when it is asked to. */
const IDLE = 'trap "exit 0" TERM; sleep 3600 & wait';
const SERVE = 'echo "$VERSION" > /www/index.html; exec httpd -f -p 8080 -h /www';
const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };

let platform: Platform;
let root: Voice;
let make: Maker;
let place: Place;
let image: string;
let docker: Awaited<ReturnType<typeof demandEngine>>;

beforeAll(async () => {
  docker = await demandEngine();
  image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  root = platform.root;
  make = makerFor(root);
  place = await makePlace(root, 'acme');
}, LIMIT_MS);
afterEach(async () => {
  for (const { id } of (await root.get('/acme/containers')).body) await root.delete(`/root/containers/${id}`);
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNothingLeft(worldId);
}, LIMIT_MS);

const idle = (more: object = {}) => ({ image, cmd: IDLE, memory: 16, cpus: 0.1, ...more });
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body;
const statusOf = async (container: Body) => (await read(container)).properties.status;
const reasonOf = async (container: Body) => (await read(container)).properties.status_detail?.reason ?? '';
const engineOf = async ({ id }: Body) =>
  docker.listContainers({ all: true, filters: { label: [`terrarium.record=${id}`] } });

describe('a container that cannot run as it is defined', () => {
  it('FAILED names an image that there is none of; another image mends it (D-051)', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle({ image: 'terrarium-test/nothing:1' }));
    await expect.poll(() => statusOf(container), POLL).toBe('FAILED');
    expect((await read(container)).properties.status_detail).toEqual({
      reason: expect.stringContaining("image 'terrarium-test/nothing:1' cannot be pulled"),
      image: 'terrarium-test/nothing:1',
    });
    expect((await read(container)).resource_state).toMatch(/Active$/);
    await root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/image', value: image }]);
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
  });

  it('an image that exits at once is told with its exit code, and started again', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle({ cmd: 'echo no config >&2; exit 3' }));
    await expect.poll(() => reasonOf(container), POLL).toMatch(/ended with exit code 3/);
    expect(['LAUNCHED', 'SCALING']).toContain(await statusOf(container));
    await expect
      .poll(async () => (await read(container)).properties.events.map(({ type }: { type: string }) => type), POLL)
      .toEqual(expect.arrayContaining(['die (exit code 3)', 'start']));
  });

  it('one that takes more memory than it may is told so', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle({ memory: 8, cmd: 'sleep 1; tail /dev/zero' }));
    await expect.poll(() => reasonOf(container), POLL).toMatch(/killed for using more memory/);
  });

  it('a health check that never passes leaves it UNHEALTHY, and no request gets there', {
    timeout: LIMIT_MS,
  }, async () => {
    const check = {
      protocol: 'HTTP',
      path: '/',
      port: 8080,
      grace_period_seconds: 0,
      interval_seconds: 1,
      timeout_seconds: 1,
    };
    const container = await make.container(
      place,
      idle({ port_mappings: [web], health_checks: [{ ...check, max_consecutive_failures: 2 }] }),
    );
    await expect.poll(() => statusOf(container), POLL).toBe('UNHEALTHY');
    const well = await make.container(place, idle({ cmd: SERVE, port_mappings: [web], health_checks: [check] }));
    await expect.poll(() => statusOf(well), POLL).toBe('HEALTHY');
    expect((await read(well)).properties).toMatchObject({ tasks_healthy: 1, tasks_unhealthy: 0 });
  });

  it('a command that there is none of, a mount that is refused', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle({ cmd: undefined, args: ['/no/such/program'] }));
    await expect.poll(() => statusOf(container), POLL).toBe('FAILED');
    expect(await reasonOf(container)).toContain('no such file or directory');
    expect(await engineOf(container)).toEqual([]);
  });

  it('an update that does not run leaves the old instances serving', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle());
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [before] = (await read(container)).properties.instances;
    await root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/cmd', value: 'exit 5' }]);
    await expect.poll(() => reasonOf(container), POLL).toMatch(/the old one goes on: .*exit code 5/);
    expect((await read(container)).properties.instances.map(({ id }: { id: string }) => id)).toContain(before.id);
  });
});

describe('what happens around it', () => {
  it('an instance that somebody removed is made again; a foreign container is never touched', {
    timeout: LIMIT_MS,
  }, async () => {
    const foreign = await docker.createContainer({
      Image: image,
      Cmd: ['/bin/sh', '-c', IDLE],
      Labels: { 'terrarium.world': 'another' },
    });
    await foreign.start();
    const container = await make.container(place, idle());
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [{ Id: before = '' } = {}] = await engineOf(container);
    await docker.getContainer(before).remove({ force: true });
    await expect
      .poll(async () => (await engineOf(container)).map(({ Id, State }) => [Id !== before, State]), POLL)
      .toEqual([[true, 'running']]);
    expect((await foreign.inspect()).State.Running).toBe(true);
    await foreign.remove({ force: true });
  });

  it('many actions one upon another end in what was asked last', { timeout: LIMIT_MS }, async () => {
    const container = await make.container(place, idle({ env: { N: 'first' } }));
    const scale = (count: number) => () => root.post(`/root/containers/${container.id}/scale?numInstances=${count}`);
    const env = (N: string) => () =>
      root.patch(`/root/containers/${container.id}`, [{ op: 'replace', path: '/properties/env', value: { N } }]);
    // Each is answered long before it is done; sent at once they might come in any order.
    for (const act of [scale(3), env('a'), scale(0), env('b'), scale(4), env('last'), scale(2)]) await act();
    // Until all is done those of before serve, and as many as are asked for now may be there by chance.
    const there = async () => {
      const found = await Promise.all(
        (await engineOf(container)).map(({ Id }) =>
          docker
            .getContainer(Id)
            .inspect()
            .catch(() => undefined),
        ),
      );
      return found.map((one) => one?.Config.Env.find((line: string) => line.startsWith('N=')));
    };
    await expect
      .poll(async () => [await statusOf(container), await there()], POLL)
      .toEqual(['RUNNING', ['N=last', 'N=last']]);
  });

  it(`${MANY} containers created at once all come to run, and go`, { timeout: 2 * LIMIT_MS }, async () => {
    const all = await Promise.all(
      Array.from({ length: MANY }, () => make.container(place, idle({ cpus: 0.05, memory: 6 }))),
    );
    const running = async () => {
      const { body } = await root.get('/acme/containers?expand=true');
      return body.filter((one: Body) => one.properties.status === 'RUNNING').length;
    };
    await expect.poll(running, { timeout: LIMIT_MS, interval: 200 }).toBe(MANY);
    for (const { id } of all) expect((await root.delete(`/root/containers/${id}`)).status).toBe(204);
    const left = async () =>
      (await docker.listContainers({ all: true, filters: { label: [`terrarium.world=${platform.emulator.worldId}`] } }))
        .length;
    await expect.poll(left, { timeout: LIMIT_MS, interval: 200 }).toBe(0);
  });

  it('a job runs once and tells how it ended (D-213)', { timeout: LIMIT_MS }, async () => {
    const job = async (name: string, cmd: string): Promise<Body> =>
      root.create(`${place.environment}/jobs`, {
        name,
        properties: { container_type: 'DOCKER', provider: { id: place.docker }, ...idle({ cmd }) },
      });
    const [good, bad] = [await job('good', 'echo done'), await job('bad', 'exit 4')];
    const status = async ({ id }: Body) => (await root.get(`/root/jobs/${id}`)).body.properties.status;
    await expect.poll(() => status(good), POLL).toBe('SUCCEEDED');
    await expect.poll(() => status(bad), POLL).toBe('FAILED');
    for (const { id } of [good, bad]) expect((await root.delete(`/root/jobs/${id}`)).status).toBe(204);
  });
});

describe('an engine that goes away', () => {
  let door: EngineDoor;
  let there: Platform;
  beforeAll(async () => {
    door = await makeEngineDoor();
    await door.open();
    there = await startPlatform({ containers: { engine: door.url } });
  }, LIMIT_MS);
  afterAll(async () => {
    const worldId = there?.emulator.worldId;
    await there?.stop();
    await door?.remove();
    if (worldId) await expectNothingLeft(worldId);
  }, LIMIT_MS);

  it('LOST meanwhile; what was asked and deleted then is done when it is back (D-050, D-183)', {
    timeout: LIMIT_MS,
  }, async () => {
    const voice = there.root;
    const elsewhere = await makePlace(voice, 'acme');
    const maker = makerFor(voice);
    const one: Body = await maker.container(
      elsewhere,
      idle({ cmd: SERVE, env: { VERSION: 'back' }, port_mappings: [web] }),
    );
    const doomed: Body = await maker.container(elsewhere, idle());
    const api = await maker.api(elsewhere);
    const endpoint = await voice.create(`/root/apis/${api.id}/apiendpoints`, {
      name: 'app',
      properties: {
        resource: '/app',
        implementation_type: 'container',
        implementation_id: one.id,
        container_port_name: 'web',
      },
    });
    const status = async ({ id }: Body) => (await voice.get(`/root/containers/${id}`)).body.properties?.status;
    const page = async () => {
      const answer = await fetch(endpoint.properties.public_url);
      return `${answer.status} ${(await answer.text()).trim()}`;
    };
    for (const container of [one, doomed]) await expect.poll(() => status(container), POLL).toBe('RUNNING');
    expect(await page()).toBe('200 back');

    await door.shut();
    await expect.poll(() => status(one), POLL).toBe('LOST');
    const lost = (await voice.get(`/root/containers/${one.id}`)).body.properties;
    expect(lost).toMatchObject({
      tasks_running: 0,
      instances: [],
      status_detail: { reason: expect.stringContaining(door.url) },
    });
    // What runs goes on without the engine's being asked.
    expect(await page()).toBe('200 back');
    const log = await voice.send('GET', `/../log/container/${one.id}`);
    expect([log.status, log.headers.get('retry-after')]).toEqual([503, '5']);
    const late: Body = await maker.container(elsewhere, idle());
    expect(late.properties.status).toBe('LOST');
    expect((await voice.delete(`/root/containers/${doomed.id}`)).status).toBe(204);

    await door.open();
    for (const container of [one, late]) await expect.poll(() => status(container), POLL).toBe('RUNNING');
    await expect.poll(page, POLL).toBe('200 back');
    const left = () => docker.listContainers({ all: true, filters: { label: [`terrarium.record=${doomed.id}`] } });
    await expect.poll(left, POLL).toEqual([]);
    for (const { id } of [one, late]) await voice.delete(`/root/containers/${id}`);
  });
});
