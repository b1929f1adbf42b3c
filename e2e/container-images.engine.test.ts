import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectNoLeftovers, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
const SERVE = `cp /etc/version /www/index.html; ${serveOn(8080)}`;
const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };

let platform: Platform;
let root: ApiClient;
let make: ResourceFactory;
let tenant: Tenant;
let base: string;
let docker: Awaited<ReturnType<typeof requireEngine>>;
const repository = `terrarium-test/tagged-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  docker = await requireEngine();
  base = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  root = platform.root;
  make = resourceFactoryFor(root);
  tenant = await createTenant(root, 'acme');
});
afterEach(async () => {
  for (const { id } of (await root.get('/acme/containers')).body) await root.delete(`/root/containers/${id}`);
});
afterAll(async () => {
  await platform?.stop();
  if (platform) await expectNoLeftovers(platform.emulator.worldId);
  const images = await docker.listImages({ filters: { reference: [`${repository}:*`] } });
  for (const { RepoTags: tags } of images) for (const tag of tags ?? []) await docker.getImage(tag).remove();
});

/** Creates an image whose page shows a version; the tag may have named another image before. */
async function build(tag: string, version: string): Promise<string> {
  const cmd = ['/bin/sh', '-c', `echo ${version} > /etc/version`];
  const container = await docker.createContainer({ Image: base, Cmd: cmd });
  await container.start();
  await container.wait();
  await container.commit({ repo: repository, tag });
  await container.remove();
  return `${repository}:${tag}`;
}
/** The freezer of cgroup v1 can time out while a process is busy; the engine then leaves the container running. */
async function pause(id: string): Promise<void> {
  const pauseOnce = () =>
    docker
      .getContainer(id)
      .pause()
      .then(() => 'paused', String);
  await expect.poll(pauseOnce, POLL).toBe('paused');
}
const containerProperties = (image: string) => ({ image, cmd: SERVE, memory: 16, cpus: 0.2, port_mappings: [web] });
const read = async ({ id }: Body): Promise<Body> => (await root.get(`/root/containers/${id}`)).body;
const statusOf = async (container: Body) => (await read(container)).properties.status;
const idsOf = async (container: Body): Promise<string[]> =>
  (await read(container)).properties.instances.map(({ id }: { id: string }) => id);
async function publish(container: Body): Promise<() => Promise<string>> {
  const api = await make.api(tenant);
  const { properties } = await root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'app',
    properties: {
      resource: '/app',
      implementation_type: 'container',
      implementation_id: container.id,
      container_port_name: 'web',
    },
  });
  return async () => {
    const answer = await fetch(`${properties.public_url}/`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
}

describe('the image of a container', () => {
  it('that comes after it FAILED for the lack of it is used by itself', async () => {
    const container = await make.container(tenant, containerProperties(`${repository}:late`));
    await expect.poll(() => statusOf(container), POLL).toBe('FAILED');
    await build('late', 'here');
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    expect((await read(container)).properties).not.toHaveProperty('status_detail');
  });

  it('that its tag no longer names is left by a PUT or PATCH that changes nothing, new instances first (D-052)', async () => {
    const container = await make.container(tenant, containerProperties(await build('moving', 'one')));
    const path = `/root/containers/${container.id}`;
    const page = await publish(container);
    await expect.poll(page, POLL).toBe('200 one');
    const first = await idsOf(container);

    const same = async () => expect((await root.put(path, await read(container))).status).toBe(200);
    await same();
    await build('elsewhere', 'two');
    await same();
    expect(await idsOf(container)).toEqual(first);

    await build('moving', 'two');
    expect(await idsOf(container)).toEqual(first);
    const answers: string[] = [];
    await same();
    await expect
      .poll(async () => {
        answers.push(await page());
        return answers.at(-1);
      }, POLL)
      .toBe('200 two');
    expect(answers.filter((answer) => !/^200 (one|two)$/.test(answer))).toEqual([]);
    await expect.poll(async () => (await idsOf(container)).length, POLL).toBe(1);
    const second = await idsOf(container);
    expect(second).not.toEqual(first);

    await build('moving', 'three');
    const { image } = (await read(container)).properties;
    await root.patch(path, [{ op: 'replace', path: '/properties/image', value: image }]);
    await expect.poll(page, POLL).toBe('200 three');
  });
});

describe('an instance that somebody paused', () => {
  it('is no running one, gets no requests, and is not replaced', async () => {
    const container = await make.container(tenant, containerProperties(await build('paused', 'up')));
    const page = await publish(container);
    await expect.poll(page, POLL).toBe('200 up');
    const before = await idsOf(container);
    const [{ id = '' }] = (await read(container)).properties.instances;
    await pause(id);
    await expect.poll(() => statusOf(container), POLL).toBe('SCALING');
    expect((await read(container)).properties).toMatchObject({
      tasks_running: 0,
      instances: [],
      status_detail: { reason: expect.stringContaining('is paused') },
    });
    expect(await page()).toMatch(/^503 .*is paused/s);
    const { body: instances } = await root.get(`/../inspect/containers/${container.id}/instances`);
    expect(instances).toMatchObject([{ id, state: 'paused' }]);
    await docker.getContainer(id).unpause();
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    expect(await page()).toBe('200 up');
    expect(await idsOf(container)).toEqual(before);
  });

  it('is removed like any other', async () => {
    const container = await make.container(tenant, containerProperties(await build('paused', 'up')));
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [{ id = '' }] = (await read(container)).properties.instances;
    await pause(id);
    expect((await root.delete(`/root/containers/${container.id}`)).status).toBe(204);
    const listRemaining = () =>
      docker.listContainers({ all: true, filters: { label: [`terrarium.record=${container.id}`] } });
    await expect.poll(listRemaining, POLL).toEqual([]);
  });
});
