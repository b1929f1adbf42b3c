import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';
import { basic, type Reply, send } from '../server/testing/checked-client.ts';
import { startPlatform } from '../server/testing/platform.ts';
import { createTenant, lambdaBody } from '../server/testing/tenant.ts';

const CLI = packageFile('dist/server/cli.js');
const KEY = { TERRARIUM_ROOT_API_KEY: 'records', TERRARIUM_ROOT_API_SECRET: 'test' };
const auth = basic('records', 'test');
/** Two platforms are started, one after the other. */
const timeout = 60_000;
const CODE = `exports.run = (event, context, callback) => {
  console.log('says ' + JSON.parse(event).n);
  callback(JSON.parse(event).n === 3 ? new Error('no three') : null, { twice: 2 * JSON.parse(event).n, filler: 'x'.repeat(10000) });
};`;

const folder = await mkdtemp(join(tmpdir(), 'terrarium-kept-records-'));
afterAll(() => rm(folder, { recursive: true, maxRetries: 3 }));

/** Starts a platform on the folder, in a separate process. */
async function start(data: string) {
  const readyFile = join(folder, `ready-${Math.random()}.json`);
  const args = [
    '--headless',
    '--data',
    data,
    '--seed',
    'empty',
    '--ready-file',
    readyFile,
    '--containers-engine',
    'none',
    '--root-password',
    'root-secret-1234',
  ];
  const child = spawn(process.execPath, [CLI, 'start', ...args, '--base-port', '0', '--gateway-port', '0'], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, ...KEY },
  });
  for (;;) {
    const ready = await readFile(readyFile, 'utf8').catch(() => '');
    if (ready !== '')
      return {
        child,
        ...(JSON.parse(ready) as { baseUrl: string; metaUrl: string; gatewayUrl: string; securityUrl: string }),
      };
    if (child.exitCode !== null) throw new Error('the platform did not start');
    await pause(20);
  }
}

/** Creates a lambda with an endpoint `/web/echo`; resolves to its id. */
async function publish(metaUrl: string): Promise<string> {
  const create = async (path: string, body: unknown) => {
    const answer = await send('POST', `${metaUrl}${path}`, { auth, body });
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const root = {
    create,
    post: (path: string, body?: unknown) => send('POST', `${metaUrl}${path}`, { auth, body }),
    get: (path: string) => send('GET', `${metaUrl}${path}`, { auth }),
  };
  const tenant = await createTenant(root as unknown as Parameters<typeof createTenant>[0], 'acme'); // these three are what it uses
  const lambda = await create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'echo', { code: CODE }));
  const api = await create(`${tenant.environment}/apis`, { name: 'web', properties: {} });
  await create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'echo',
    properties: { resource: '/echo', implementation_type: 'lambda', implementation_id: lambda.id },
  });
  return lambda.id;
}

const bodyOf = async (url: string): Promise<Reply['body']> => (await send('GET', url, { auth })).body;
const idOf = ({ headers }: Reply) => headers.get('x-terrarium-execution-id') ?? '';

describe('Recorded events', () => {
  it.skipIf(process.platform === 'win32')(
    'is there after a crash, whole, in pages that go on into the past, and can be replayed',
    { timeout },
    async () => {
      const data = join(folder, 'crash');
      const first = await start(data);
      const lambda = await publish(first.metaUrl);
      const ids: string[] = [];
      for (let n = 1; n <= 5; n++) {
        const headers = { authorization: 'Bearer t-secret-1234', cookie: 'sid=c-secret-1234' };
        ids.push(idOf(await send('POST', `${first.gatewayUrl}/web/echo?token=q-secret`, { body: { n }, headers })));
      }
      const form = new URLSearchParams({ grant_type: 'password', username: 'root', password: 'root-secret-1234' });
      const { access_token: token } = (await send('POST', `${first.securityUrl}/root/oauth/issue`, { body: form }))
        .body;
      const ada = {
        name: 'ada',
        properties: { password: 'p-secret-1234', firstName: 'Ada', lastName: 'L', email: 'a@example.com' },
      };
      expect((await send('POST', `${first.metaUrl}/root/users`, { auth, body: ada })).status).toBe(201);
      const run = (await bodyOf(`${first.baseUrl}/inspect/invocations`)).run;
      // Waits until the last record of each kind is on disk; the time depends on the machine.
      const written = async () => {
        const names = await readdir(join(data, 'records')).catch(() => []);
        const isIn = async (kind: string, part: string) => {
          const files = names.filter((name) => name.startsWith(kind)).map((name) => join(data, 'records', name));
          return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).some((text) => text.includes(part));
        };
        return [
          await isIn('invocations', `"${ids[4]}"`),
          await isIn('requests', '/root/users'),
          await isIn('lines', 'says 5'),
        ];
      };
      await expect.poll(written).toEqual([true, true, true]);
      first.child.kill('SIGKILL');
      await once(first.child, 'close');

      for (const name of await readdir(join(data, 'records'))) {
        const file = join(data, 'records', name);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        if (name.startsWith('requests')) expect(await readFile(file, 'latin1')).not.toMatch(/q-secret/);
        expect(await readFile(file, 'latin1')).not.toMatch(/[tcp]-secret-1234/);
        expect(await readFile(file, 'latin1')).not.toContain(token);
      }

      const { baseUrl, gatewayUrl, child } = await start(data);
      const after = idOf(await send('POST', `${gatewayUrl}/web/echo`, { body: { n: 6 } }));
      const list = await bodyOf(`${baseUrl}/inspect/invocations?limit=4`);
      const rest = await bodyOf(`${baseUrl}/inspect/invocations?limit=4&before=${list.next}`);
      const listed = [...list.invocations, ...rest.invocations].map(({ executionId }) => executionId);
      expect(listed).toEqual([after, ...ids.toReversed()]);
      expect([list.run, list.total]).toEqual([run, 6]);
      expect(
        (await bodyOf(`${baseUrl}/inspect/invocations?q=log:${encodeURIComponent('"says 2"')}`)).invocations,
      ).toHaveLength(1);
      expect(await bodyOf(`${baseUrl}/inspect/failures/${ids[2]}`)).toMatchObject({ count: 1, text: 'no three' });

      const completeInvocation = await bodyOf(`${baseUrl}/inspect/invocations/${ids[1]}`);
      expect(completeInvocation).toMatchObject({
        outcome: { ok: true, result: { twice: 4 } },
        logs: [{ text: 'says 2' }],
        event: { body: { text: '{"n":2}' } },
        request: {
          status: 200,
          target: '/web/echo?token=%3Chidden%3E',
          response: { body: { sizeBytes: completeInvocation.resultBytes } },
        },
      });
      const logged = [1, 2, 3, 4, 5, 6].map((n) => `says ${n}`);
      const log: string[] = await bodyOf(`${baseUrl}/log/lambda/${lambda}`);
      expect(log.filter((line) => line.startsWith('says'))).toEqual(logged);
      const replayed = await send('POST', `${baseUrl}/inspect/invocations/${ids[4]}/replay`, { auth });
      expect(replayed.body).toMatchObject({ outcome: { result: { twice: 10 } }, replayOf: ids[4] });
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  );

  it('is in memory only, or nowhere, when that is set', async () => {
    for (const keep of ['memory', 'nothing'] as const) {
      const data = join(folder, keep);
      const { emulator, root, stop } = await startPlatform({ data, records: { keep } });
      await root.get('/orgs');
      const { apiKey, apiSecret = '' } = emulator.rootCredentials;
      const { body } = await send('GET', `${emulator.baseUrl}/inspect/traffic`, { auth: basic(apiKey, apiSecret) });
      expect(body.requests).toHaveLength(keep === 'memory' ? 1 : 0);
      await stop();
      expect(await readdir(data)).not.toContain('records');
    }
  });
});
