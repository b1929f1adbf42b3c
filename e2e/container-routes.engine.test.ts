import { request } from 'node:http';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { basic, send } from '../server/testing/checked-client.ts';
import { expectNoLeftovers, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { startSlowRegistry } from '../server/testing/slow-registry.ts';
import { type Body, containerBody, createTenant, grant, makeUser, type Tenant } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let platform: Platform;
let make: ResourceFactory;
let tenant: Tenant;
let image: string;
let rootKey: string;

beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  platform = await startPlatform({ containers: { engine: 'auto', onStop: 'remove' } });
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  rootKey = basic(apiKey, apiSecret);
  make = resourceFactoryFor(platform.root);
  tenant = await createTenant(platform.root, 'acme');
});
afterEach(async () => {
  for (const collection of ['containers', 'jobs']) {
    const records: Body[] = (await platform.root.get(`/acme/${collection}`)).body;
    for (const { id } of records) await platform.root.delete(`/root/${collection}/${id}`);
  }
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  if (worldId) await expectNoLeftovers(worldId);
});

const inspect = (method: string, path: string, body?: unknown, auth = rootKey) =>
  send(method, `${platform.emulator.baseUrl}/inspect${path}`, { auth, ...(body !== undefined && { body }) });
const statusOf = async ({ id }: Body) => (await platform.root.get(`/root/resources/${id}`)).body.properties.status;
const start = async (properties: object = {}, status = 'RUNNING') => {
  const container = await make.container(tenant, { image, memory: 32, ...properties });
  await expect.poll(() => statusOf(container), POLL).toBe(status);
  return container;
};
const startJob = (cmd: string) =>
  platform.root.create(
    `${tenant.environment}/jobs`,
    containerBody(tenant, make.fresh('job'), { image, memory: 32, cmd }),
  );
const instancesOf = async ({ id }: Body): Promise<Body[]> => (await inspect('GET', `/containers/${id}/instances`)).body;

describe('the instances of a container', () => {
  it('have state, health, address and start time', async () => {
    const web = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };
    const container = await start({ num_instances: 2, cmd: serveOn(8080), port_mappings: [web] });
    const reply = await inspect('GET', `/containers/${container.id}/instances`);
    expect(reply.status).toBe(200);
    expect(reply.body).toHaveLength(2);
    for (const instance of reply.body) {
      expect(instance).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        state: 'running',
        health: 'none',
        isCurrent: true,
        image,
        ports: [{ containerPort: 8080, host: '127.0.0.1', port: expect.any(Number) }],
        startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(instance).not.toHaveProperty('exitCode');
    }
  });

  it('of a job keep their exit code', async () => {
    const job = await startJob('exit 3');
    await expect.poll(() => statusOf(job), POLL).toBe('FAILED');
    expect(await instancesOf(job)).toMatchObject([{ state: 'exited', exitCode: 3 }]);
  });

  it('are new after a restart; a job runs again', async () => {
    const container = await start();
    const [before] = await instancesOf(container);
    expect((await inspect('POST', `/containers/${container.id}/restart`)).status).toBe(202);
    await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
    const [after, ...more] = await instancesOf(container);
    expect(more).toEqual([]);
    expect(after?.id).not.toBe(before?.id);

    const job = await startJob('true');
    await expect.poll(() => statusOf(job), POLL).toBe('SUCCEEDED');
    const [first] = await instancesOf(job);
    expect((await inspect('POST', `/containers/${job.id}/restart`)).status).toBe(202);
    await expect
      .poll(async () => [(await instancesOf(job))[0]?.id === first?.id, await statusOf(job)], POLL)
      .toEqual([false, 'SUCCEEDED']);
  });
});

describe('Use of a container', () => {
  it('is measured per instance', async () => {
    const container = await start();
    const { status, body } = await inspect('GET', `/containers/${container.id}/stats`);
    expect(status).toBe(200);
    expect(body.containerId).toBe(container.id);
    const [used] = body.instances;
    expect(used).toMatchObject({ memoryLimitBytes: 32 * 1024 * 1024, receivedBytes: expect.any(Number) });
    expect(used.memoryBytes).toBeGreaterThan(0);
    expect(used.memoryBytes).toBeLessThan(used.memoryLimitBytes);
    expect(used.cpus).toBeGreaterThanOrEqual(0);
  });

  it('is measured for several at once; a stopped one uses nothing', async () => {
    const busy = await start();
    const stopped = await start({ num_instances: 0 }, 'SUSPENDED');
    const { body } = await inspect('GET', `/containers/stats?ids=${busy.id},${stopped.id}`);
    expect(body).toMatchObject([
      { containerId: busy.id, instances: [{ instanceId: expect.any(String) }] },
      { containerId: stopped.id, instances: [] },
    ]);
    expect((await inspect('GET', '/containers/stats')).body).toEqual([]);
    expect(await inspect('GET', `/containers/stats?ids=${UNKNOWN_ID}`)).toMatchObject(refusal(404));
    expect(await inspect('GET', `/containers/stats?ids=${Array(51).fill(UNKNOWN_ID)}`)).toMatchObject(refusal(400));
  });
});

describe('a command in a container', () => {
  it('answers with its exit code and both outputs', async () => {
    const { id } = await start();
    const exec = (command: unknown, more: object = {}) =>
      inspect('POST', `/containers/${id}/exec`, { command, ...more });
    expect(await exec(['sh', '-c', 'echo out; echo err >&2; exit 7'])).toMatchObject({
      status: 200,
      body: { exitCode: 7, stdout: 'out\n', stderr: 'err\n', isCut: false },
    });
    // Without a shell.
    expect((await exec(['echo', '$HOME; ls'])).body.stdout).toBe('$HOME; ls\n');
    const [instance] = await instancesOf({ id });
    expect((await exec(['true'], { instance: instance?.id.slice(0, 12) })).body.exitCode).toBe(0);
    expect(await exec(['true'], { instance: 'ffffffff' })).toMatchObject(refusal(409));
    expect((await exec(['no-such-program'])).status).not.toBe(500);
    expect(await exec([])).toMatchObject(refusal(400, '/command'));
    expect(await exec('ls')).toMatchObject(refusal(400, '/command'));
  });

  it('is cut when its output is too large', async () => {
    const { id } = await start();
    const command = ['sh', '-c', 'dd if=/dev/zero bs=1024 count=1500; echo end >&2'];
    const { body } = await inspect('POST', `/containers/${id}/exec`, { command });
    expect(body).toMatchObject({ exitCode: 0, isCut: true, stderr: expect.stringContaining('end') });
    expect(body.stdout).toHaveLength(1024 * 1024);
  });

  it('requires the permission to update; reading requires the permission to view (D-116, D-118)', async () => {
    const container = await start();
    const { id: userId } = await makeUser(platform, 'vera');
    const issued = await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, {
      body: new URLSearchParams({ grant_type: 'password', username: 'vera', password: 'vera-secret' }),
    });
    const token = `Bearer ${issued.body.access_token}`;
    const path = `/containers/${container.id}`;
    const execRequest = { command: ['true'] };
    expect(await inspect('GET', `${path}/instances`, undefined, token)).toMatchObject(refusal(403));
    await grant(platform.root, '/acme', 'container.view', userId);
    expect(await inspect('GET', `${path}/instances`, undefined, token)).toMatchObject({ status: 200 });
    expect(await inspect('GET', `${path}/stats`, undefined, token)).toMatchObject({ status: 200 });
    for (const [change, body] of [
      ['exec', execRequest],
      ['restart', undefined],
    ] as const) {
      expect(await inspect('POST', `${path}/${change}`, body, token)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('container.update') },
      });
    }
    await grant(platform.root, '/acme', 'container.update', userId);
    expect(await inspect('POST', `${path}/exec`, execRequest, token)).toMatchObject({ status: 200 });
    expect(await inspect('POST', `${path}/exec`, execRequest, 'Basic bm9ib2R5OnB3')).toMatchObject(refusal(401));
    expect(await inspect('GET', `/containers/${UNKNOWN_ID}/instances`)).toMatchObject(refusal(404));
  });
});

describe('a pull', () => {
  it('is listed while it runs, and removed when it is over', async () => {
    const registry = await startSlowRegistry();
    try {
      const container = await make.container(tenant, { image: registry.image, memory: 32 });
      await registry.waitForHalf();
      const pulls = async (): Promise<Body[]> => (await inspect('GET', '/containers/pulls')).body;
      await expect.poll(async () => (await pulls())[0]?.currentBytes, POLL).toBeGreaterThan(0);
      const [pull] = await pulls();
      expect(pull).toMatchObject({ containerId: container.id, image: registry.image, step: 'Downloading' });
      expect(pull?.currentBytes).toBeLessThan(pull?.totalBytes);
      registry.sendRest();
      await expect.poll(() => statusOf(container), POLL).toBe('RUNNING');
      expect(await pulls()).toEqual([]);
    } finally {
      registry.stop();
      for (const { id } of (await platform.root.get('/acme/containers')).body)
        await platform.root.delete(`/root/containers/${id}`);
      await expect
        .poll(
          () =>
            new Docker()
              .getImage(registry.image)
              .remove({ force: true })
              .then(() => true),
          POLL,
        )
        .toBe(true);
    }
  });
});

describe('without an engine', () => {
  it('everything that needs it is 503, and it can be reconnected', async () => {
    const alone = await startPlatform();
    const { apiKey, apiSecret = '' } = alone.emulator.rootCredentials;
    const auth = basic(apiKey, apiSecret);
    const request = (method: string, path: string, body?: object) =>
      send(method, `${alone.emulator.baseUrl}/inspect${path}`, { auth, ...(body && { body }) });
    const tenantWithoutEngine = await createTenant(alone.root, 'acme');
    const { id } = await alone.root.create(
      `${tenantWithoutEngine.environment}/containers`,
      containerBody(tenantWithoutEngine, 'web'),
    );
    for (const reply of [
      await request('GET', `/containers/${id}/instances`),
      await request('GET', `/containers/${id}/stats`),
      await request('POST', `/containers/${id}/restart`),
      await request('GET', `/logs/${id}/stream`),
    ]) {
      expect(reply).toMatchObject({ status: 503, body: { message: expect.stringContaining('engine') } });
      expect(reply.headers.get('retry-after')).toBe('5');
    }
    expect((await request('GET', `/containers/stats?ids=${id}`)).body).toEqual([]);
    expect((await request('POST', '/engines/retry')).body).toMatchObject([{ state: 'off' }]);
    await alone.stop();
  });
});

/** Reads a stream of events until it is stopped; returns the events. */
function listen(
  path: string,
  headers: Record<string, string> = {},
  { baseUrl, auth } = { baseUrl: platform.emulator.baseUrl, auth: rootKey },
) {
  let text = '';
  const clientRequest = request(`${baseUrl}/inspect${path}`, { headers: { Authorization: auth, ...headers } });
  const answered = new Promise<number>((resolve) =>
    clientRequest.once('response', (response) => {
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', () => undefined); // we hang up
      resolve(response.statusCode ?? 0);
    }),
  );
  clientRequest.on('error', () => undefined);
  clientRequest.end();
  return {
    answered,
    lines: () =>
      [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']): string[] =>
        JSON.parse(data).lines.map((line: Body) => `${line.stream} ${line.text}`),
      ),
    pieces: () => text.match(/^data: /gm)?.length ?? 0,
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    end: () => clientRequest.destroy(),
  };
}

describe('GET /inspect/logs/{id}/stream', () => {
  const LOG_SCRIPT =
    'i=0; while [ $i -lt 3 ]; do echo "line $i"; i=$((i+1)); done; echo oops >&2; while true; do sleep 0.2; cat /tmp/more 2>/dev/null && rm /tmp/more; done';

  it('sends earlier and new log lines, and continues where a reader was cut off', async () => {
    const { id } = await start({ cmd: LOG_SCRIPT });
    const writeToLog = (text: string) =>
      inspect('POST', `/containers/${id}/exec`, {
        command: ['sh', '-c', `printf '${text}' > /tmp/.m && cp /tmp/.m /proc/1/fd/1`],
      });
    const first = listen(`/logs/${id}/stream`);
    expect(await first.answered).toBe(200);
    await expect
      .poll(() => first.lines().sort(), POLL)
      .toEqual(['stderr oops', 'stdout line 0', 'stdout line 1', 'stdout line 2']);
    await writeToLog('while looking\\n');
    await expect.poll(() => first.lines().at(-1), POLL).toBe('stdout while looking');
    const lastId = first.lastId();
    first.end();
    await writeToLog('while away\\nand more\\n');
    const second = listen(`/logs/${id}/stream`, { 'Last-Event-ID': lastId });
    await expect.poll(() => second.lines(), POLL).toEqual(['stdout while away', 'stdout and more']);
    second.end();
  });

  it('continues without gaps when the engine was unavailable and is back', async () => {
    const proxy = await makeEngineProxy();
    await proxy.open();
    const behind = await startPlatform({ containers: { engine: proxy.url, onStop: 'remove' } });
    const { apiKey, apiSecret = '' } = behind.emulator.rootCredentials;
    const proxiedTenant = await createTenant(behind.root, 'acme');
    const cmd = 'i=0; while true; do echo "tick $i"; i=$((i+1)); sleep 0.2; done';
    const { id } = await resourceFactoryFor(behind.root).container(proxiedTenant, { image, memory: 32, cmd });
    const status = async () => (await behind.root.get(`/root/resources/${id}`)).body.properties.status;
    await expect.poll(status, POLL).toBe('RUNNING');
    const at = { baseUrl: behind.emulator.baseUrl, auth: basic(apiKey, apiSecret) };
    const stream = listen(`/logs/${id}/stream`, {}, at);
    await expect.poll(() => stream.lines().length, POLL).toBeGreaterThan(2);

    await proxy.close();
    await expect.poll(status, POLL).toBe('LOST');
    await proxy.open();
    await expect.poll(status, POLL).toBe('RUNNING');
    // Each line arrives when it is written, not together with the next keep-alive.
    const before = stream.pieces();
    await expect.poll(() => stream.pieces(), POLL).toBeGreaterThan(before + 8);
    const lines = stream.lines();
    expect(lines).toEqual(lines.map((_, index) => `stdout tick ${index}`));
    stream.end();
    await behind.stop();
    await expectNoLeftovers(behind.emulator.worldId);
    await proxy.remove();
  });

  it('sends the output of a lambda, and rejects an invalid cursor', async () => {
    const { id } = await make.lambda(tenant, {
      code: 'exports.run = (event, context, callback) => { console.log("ran " + event); callback(null, "ok"); };',
    });
    const stream = listen(`/logs/${id}/stream`);
    expect(await stream.answered).toBe(200);
    await inspect('POST', `/lambdas/${id}/invoke`, 1);
    await expect.poll(() => stream.lines(), POLL).toEqual(['stdout ran 1']);
    stream.end();
    const later = listen(`/logs/${id}/stream?after=${stream.lastId()}`);
    await inspect('POST', `/lambdas/${id}/invoke`, 2);
    await expect.poll(() => later.lines(), POLL).toEqual(['stdout ran 2']);
    later.end();
    expect(await inspect('GET', `/logs/${id}/stream?after=x`)).toMatchObject(refusal(400));
    expect(await inspect('GET', `/logs/${UNKNOWN_ID}/stream`)).toMatchObject(refusal(404));
  });
});
