import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliRunner } from '../server/testing/command.ts';
import { expectNoLeftovers, IDLE, requireEngine, testImage } from '../server/testing/engine.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };

let cli: CliRunner;
let platform: Platform;
let container: Body;
const run = (...args: string[]) => {
  const { baseUrl, rootCredentials: root } = platform.emulator;
  return cli.runInProcess([...args], {
    env: { TERRARIUM_BASE_URL: baseUrl, TERRARIUM_API_KEY: root.apiKey, TERRARIUM_API_SECRET: root.apiSecret ?? '' },
  });
};
const list = async (): Promise<Body[]> => JSON.parse((await run('containers', 'list', '--json')).out);

beforeAll(async () => {
  await requireEngine();
  const image = await testImage();
  cli = new CliRunner();
  platform = await startPlatform({ containers: { engine: 'auto' } });
  const make = resourceFactoryFor(platform.root);
  const tenant = await createTenant(platform.root, 'acme');
  const cmd = `echo started; ${IDLE}`;
  container = await make.container(tenant, { image, memory: 16, cpus: 0.5, cmd });
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  await cli?.close();
  if (worldId) await expectNoLeftovers(worldId);
});

it('containers lists, scales, restarts and runs commands, and logs prints the log of a container', async () => {
  const { name } = container;
  await expect.poll(list, POLL).toMatchObject([{ id: container.id, status: 'RUNNING', running: 1, restarts: 0 }]);
  expect((await run('containers')).out).toMatch(new RegExp(`^/acme/.*/${name} +RUNNING +1/1 +0 restarts`));

  const ran = await run('containers', 'exec', name, 'sh', '-c', 'echo out; echo err >&2; exit 3');
  expect(ran).toEqual({ exitCode: 3, out: 'out\n', err: expect.stringContaining('err') });

  await expect.poll(async () => (await run('logs', name)).out, POLL).toBe('started\n');

  expect((await run('containers', 'scale', name, '2')).exitCode).toBe(0);
  await expect.poll(list, POLL).toMatchObject([{ status: 'RUNNING', running: 2, instances: 2 }]);
  expect(await run('containers', 'scale', name, 'many')).toMatchObject({ exitCode: 2 });

  expect((await run('containers', 'restart', name)).out).toBe(`${name} is restarting\n`);
  expect(await run('containers', 'restart', 'nothing')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining("container 'nothing' not found"),
  });
  expect(await run('logs', 'nothing')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining("lambda, container or job 'nothing' not found"),
  });
});
