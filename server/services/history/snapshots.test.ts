import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic, type Reply, send } from '../../testing/checked-client.ts';
import { type Platform, refusal, startPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { createTenant } from '../../testing/tenant.ts';

describe.each(['in a folder', 'in memory'])('snapshots %s', (location) => {
  let platform: Platform;
  let folder: string;
  let rootKey: string;

  const start = async () => {
    platform = await startPlatform({ data: location === 'in memory' ? ':memory:' : join(folder, 'data') });
    const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
    rootKey = basic(apiKey, apiSecret);
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrarium snapshots '));
    await start();
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true });
  });
  const inspect = (method: string, path: string, body?: unknown): Promise<Reply> =>
    send(method, `${platform.emulator.baseUrl}/inspect/snapshots${path}`, { auth: rootKey, body });

  beforeEach(async () => {
    for (const { name } of (await inspect('GET', '')).body) await inspect('DELETE', `/${name}`);
  });

  it('are rejected at the maximum number until one is deleted', async () => {
    for (let count = 1; count <= 100; count += 1) await inspect('POST', '', { name: `snapshot-${count}` });
    const refused = await inspect('POST', '', { name: 'another' });
    expect(refused).toMatchObject({
      status: 409,
      body: { reason: 'limit_reached', message: expect.stringContaining("the oldest is 'snapshot-1'") },
    });
    await inspect('DELETE', '/snapshot-1');
    expect((await inspect('POST', '', { name: 'another' })).status).toBe(201);
  });

  it('are created, listed, compared, restored and deleted', async () => {
    expect((await inspect('GET', '')).body).toEqual([]);
    await platform.root.create('/root', { name: 'kept' });
    const created = await inspect('POST', '', { name: 'before-demo' });
    expect(created).toMatchObject({ status: 201, body: { name: 'before-demo', seq: expect.any(Number) } });
    expect(created.headers.get('location')).toBe(`${platform.emulator.baseUrl}/inspect/snapshots/before-demo`);
    expect((await inspect('GET', '')).body).toEqual([created.body]);

    const organization = await platform.root.create('/root', { name: 'later' });
    await platform.root.patch('/kept', [{ op: 'add', path: '/description', value: 'changed' }]);
    const { body: difference } = await inspect('GET', '/before-demo/diff');
    expect(difference.resources.map(({ path, action }: Record<string, string>) => `${action} ${path}`).sort()).toEqual([
      'create /later',
      'update /kept',
    ]);
    expect(difference).toMatchObject({ from: created.body.seq, to: created.body.seq + 2 });

    const { body } = await inspect('POST', '/before-demo/restore');
    expect(body.commit).toMatchObject({
      seq: created.body.seq + 3,
      cause: { action: 'snapshot.restore', note: 'restore of snapshot before-demo' },
    });
    expect(await platform.root.get('/later')).toMatchObject(refusal(404));
    expect((await platform.root.get('/kept')).body.description).toBeUndefined();
    expect((await inspect('GET', '/before-demo/diff')).body).toMatchObject({ ops: [], resources: [] });
    expect((await inspect('POST', '/before-demo/restore')).body).toEqual({});

    const { baseUrl } = platform.emulator;
    await send('POST', `${baseUrl}/inspect/history/${body.commit.seq}/revert`, { auth: rootKey });
    expect((await platform.root.get('/later')).body.id).toBe(organization.id);
    expect((await inspect('DELETE', '/before-demo')).status).toBe(204);
    expect((await inspect('GET', '')).body).toEqual([]);
    expect(await inspect('DELETE', '/before-demo')).toMatchObject(refusal(404));
  });

  it('need a valid name that is not in use', async () => {
    await inspect('POST', '', { name: 'one' });
    expect(await inspect('POST', '', { name: 'one' })).toMatchObject(refusal(409));
    for (const name of ['', '..', '../x', 'a/b', 'A', '.hidden', 'x'.repeat(65)]) {
      expect(await inspect('POST', '', { name }), name).toMatchObject(refusal(400));
    }
    expect(await inspect('POST', '/..%2Fworld/restore')).toMatchObject(refusal(400));
    expect(await inspect('POST', '/unknown/restore')).toMatchObject(refusal(404));
    expect(await inspect('POST', '', {})).toMatchObject(refusal(400));
  });

  it('are created once for two requests at the same time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => inspect('POST', '', { name: 'contested' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  if (location !== 'in a folder') return;

  it('are files that only their owner can read, and survive a restart', async () => {
    const file = join(folder, 'data', 'snapshots', 'one.json');
    await inspect('POST', '', { name: 'one' });
    await inspect('POST', '', { name: 'contested' });
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'data', 'snapshots'))).toEqual(['contested.json', 'one.json']);
    await platform.stop();
    await start();
    expect((await inspect('POST', '/one/restore')).status).toBe(200);

    await writeFile(file, (await readFile(file, 'utf8')).replace('"root"', '"toor"'));
    const { status, body } = await inspect('POST', '/one/restore');
    expect([status, body.message]).toEqual([503, expect.stringContaining(`${file} is damaged`)]);
    await rm(file);
  });
});

it('cannot be used while a file is in place of their folder, and each request says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-snapshots-'));
  const platform = await startPlatform({ data: folder });
  try {
    await writeFile(join(folder, 'snapshots'), 'in the way');
    const inspect = (method: string, path: string, body?: unknown) =>
      platform.root.send(method, `/../inspect/snapshots${path}`, { body });
    const answers = [
      await inspect('GET', ''),
      await inspect('POST', '', { name: 'one' }),
      await inspect('POST', '/one/restore'),
      await inspect('DELETE', '/one'),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 503,
        body: {
          code: 503,
          reason: 'storage_failed',
          message: expect.stringMatching(/snapshots.* cannot be read .*Move it away/),
        },
      });
    }
  } finally {
    await platform.stop();
    await rm(folder, { recursive: true });
  }
});

it('a mounted host folder is restored only where it is still allowed (D-215)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium snapshots '));
  const start = (allowedHostPaths: string[]) => startPlatform({ data: join(folder, 'data'), allowedHostPaths });
  const before = await start([folder]);
  const tenant = await createTenant(before.root, 'acme');
  const properties = { type: 'host_path', config: { host_path: join(folder, 'shared') } };
  const { id, name } = await resourceFactoryFor(before.root).volume(tenant, properties);
  const ask = async ({ emulator }: Platform, method: string, path: string, body?: unknown) => {
    const { apiKey, apiSecret = '' } = emulator.rootCredentials;
    return send(method, `${emulator.baseUrl}/inspect${path}`, { auth: basic(apiKey, apiSecret), body });
  };
  expect((await ask(before, 'POST', '/snapshots', { name: 'with-it' })).status).toBe(201);
  const { seq } = (await ask(before, 'GET', '/history?limit=1')).body.commits[0];
  expect((await before.root.delete(`/root/volumes/${id}`)).status).toBe(204);
  await before.stop();

  const now = await start([]);
  for (const [path, body] of [
    ['/snapshots/with-it/restore', undefined],
    ['/restore', { at: seq }],
    [`/history/${seq + 1}/revert`, undefined],
  ] as const) {
    const refused = await ask(now, 'POST', path, body);
    expect(refused, path).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('allowed directory') },
    });
    expect(refused.body.details).toMatchObject([{ pointer: `/resources/${id}` }]);
  }
  expect(await now.root.get(`/root/volumes/${id}`)).toMatchObject(refusal(404));
  await now.stop();

  const again = await start([folder]);
  expect((await ask(again, 'POST', '/snapshots/with-it/restore')).status).toBe(200);
  expect((await again.root.get(`/root/volumes/${id}`)).body.name).toBe(name);
  await again.stop();
  await rm(folder, { recursive: true });
});
