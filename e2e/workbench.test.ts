import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/checked-client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../server/testing/tenant.ts';

describe('the workbench of a lambda', () => {
  let folder: string;
  let platform: Platform;
  let acme: Tenant;
  let lambda: Body;
  let resources: ReturnType<typeof resourceFactoryFor>;
  let auth: string;
  const request = (verb: string, path: string, body?: unknown, as = auth) =>
    send(verb, `${platform.emulator.baseUrl}/inspect/lambdas/${lambda.id}/${path}`, {
      auth: as,
      ...(body !== undefined && { body }),
    });
  const code = (answer: string) => `exports.run = () => '${answer}';`;
  const run = async () => (await request('POST', 'invoke')).body.outcome.result;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrarium-workbench-'));
    platform = await startPlatform({});
    acme = await createTenant(platform.root, 'acme');
    auth = rootPairOf(platform);
    resources = resourceFactoryFor(platform.root);
  });
  beforeEach(async () => {
    lambda = await resources.lambda(acme, { code: code('as it was') });
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('keeps test events with the data', async () => {
    expect((await request('GET', 'workbench')).body).toEqual({ events: [] });
    const events = [{ name: 'Ada', body: '{"payload":{}}' }];
    expect((await request('PUT', 'events', { events })).body).toEqual({ events });
    expect((await request('GET', 'workbench')).body).toEqual({ events });
    const duplicated = await request('PUT', 'events', { events: [...events, ...events] });
    expect(duplicated.status).toBe(400);
  });

  it('lets the code follow a file: each save is a commit that says so', async () => {
    const file = join(folder, 'lambda.js');
    await writeFile(file, code('from a file'));
    expect((await request('POST', 'link', { path: file })).body).toMatchObject({ path: file });
    expect(await run()).toBe('from a file');
    await writeFile(file, code('saved again'));
    await expect.poll(run).toBe('saved again');
    const history = `${platform.emulator.baseUrl}/inspect/history?resource=${lambda.id}`;
    const commits = (await send('GET', history, { auth })).body.commits;
    expect(commits[0].cause).toMatchObject({ via: 'file', action: 'lambda.update', actor: { name: 'root' } });
    expect((await send('GET', `${history}&via=file`, { auth })).body.commits).toHaveLength(2);
    expect((await request('GET', 'workbench')).body.link).toMatchObject({ path: file, takenAt: expect.any(String) });
    expect((await request('DELETE', 'link')).status).toBe(204);
    expect((await request('GET', 'workbench')).body).not.toHaveProperty('link');
  });

  it('runs it for a debugger, which only root sees or may ask for', async () => {
    expect((await request('POST', 'debug')).body).toMatchObject({ startedAt: expect.any(String) });
    await expect
      .poll(async () => (await request('GET', 'workbench')).body.debug?.url)
      .toMatch(/^ws:\/\/127\.0\.0\.1:\d+\//);
    const other = await makeAccount(platform, 'grace');
    await grant(platform.root, `/acme/lambdas/${lambda.id}`, 'lambda.view', other.id);
    const { body } = await request('GET', 'workbench', undefined, other.bearer);
    expect(body).not.toHaveProperty('debug');
    expect(body).toHaveProperty('events');
    expect((await request('POST', 'debug', undefined, other.bearer)).status).toBe(403);
    expect((await request('POST', 'link', { path: '/etc/passwd' }, other.bearer)).status).toBe(403);
    expect((await request('POST', 'debug', undefined, '')).status).toBe(401);
    expect((await request('DELETE', 'debug')).status).toBe(204);
    expect((await request('GET', 'workbench')).body).not.toHaveProperty('debug');
    expect(await run()).toBe('as it was');
  });

  it('is deleted with the lambda', async () => {
    await platform.root.delete(`/acme/lambdas/${lambda.id}`);
    expect((await request('GET', 'workbench')).status).toBe(404);
  });
});
