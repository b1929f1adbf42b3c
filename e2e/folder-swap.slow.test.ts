import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, type Reply, send } from '../server/testing/checked-client.ts';
import { buildCommand, CliRunner, type RunningCommand } from '../server/testing/command.ts';
import { refusal } from '../server/testing/platform.ts';

/**
 * Tests of a running platform whose data folder is removed or replaced: `rm -rf`, `mv`, another folder in its place.
 */
const KEY = { TERRARIUM_ROOT_API_KEY: 'swap', TERRARIUM_ROOT_API_SECRET: 'test' };
const auth = basic('swap', 'test');
const LOST = /has changed outside this platform: its file \S+ was (removed|replaced)/;
const WRITERS = 4;

const cli = new CliRunner();
const data = join(cli.folder, 'data');
beforeAll(buildCommand);
afterAll(() => cli.close());

interface Server {
  metaUrl: string;
  run: RunningCommand;
  stop(): ReturnType<CliRunner['run']>;
}

/** Starts the shipped server. */
async function start(folder = data): Promise<Server> {
  const readyFile = join(cli.folder, 'ready.json');
  const args = ['start', '--headless', '--data', folder, '--seed', 'empty', '--ready-file', readyFile];
  const run = cli.start([...args, '--base-port', '0', '--gateway-port', '0'], { env: KEY });
  await run.waitForOutput('Ctrl+C');
  const { metaUrl } = JSON.parse(readFileSync(readyFile, 'utf8'));
  const stop = () => {
    run.child.kill('SIGTERM');
    return run.ended;
  };
  return { metaUrl, run, stop };
}

const create = ({ metaUrl }: Server, name: string) => send('POST', `${metaUrl}/root`, { auth, body: { name } });
const names = async ({ metaUrl }: Server): Promise<string[]> =>
  (await send('GET', `${metaUrl}/orgs`, { auth })).body.map(({ name }: { name: string }) => name);

/** Writes until it is refused, and records what was acknowledged. */
async function writeUntilRefused(server: Server, name: string, acknowledged: string[]): Promise<Reply> {
  for (let count = 0; ; count++) {
    const answer = await create(server, `${name}-${count}`);
    if (answer.status !== 201) return answer;
    acknowledged.push(`${name}-${count}`);
  }
}

describe('a platform whose data folder is taken away', () => {
  it('loses nothing it acknowledged, and does not affect a platform that starts in its place', async () => {
    const elsewhere = join(cli.folder, 'elsewhere');
    const a = await start();
    const acknowledgedByA: string[] = [];
    const writers = Array.from({ length: WRITERS }, (_, at) => writeUntilRefused(a, `a${at}`, acknowledgedByA));
    await expect.poll(() => acknowledgedByA.length).toBeGreaterThan(20);
    await rename(data, elsewhere);
    for (const answer of await Promise.all(writers)) {
      expect(answer).toMatchObject(refusal(503));
      expect(answer.body.message).toMatch(LOST);
    }
    expect(await send('GET', `${a.metaUrl}/health`)).toMatchObject({
      status: 503,
      body: { status: 'unhealthy', failed: expect.arrayContaining([expect.stringMatching(LOST)]) },
    });

    const b = await start();
    const acknowledgedByB = ['b0', 'b1', 'b2'];
    for (const name of acknowledgedByB) expect((await create(b, name)).status).toBe(201);
    expect((await create(a, 'late')).status).toBe(503);
    const { err } = await a.stop();
    expect(err).toMatch(LOST);
    const instanceRecord = JSON.parse(await readFile(join(data, 'instance.json'), 'utf8'));
    expect(instanceRecord.pid).toBe(b.run.child.pid);
    expect(Number.parseInt(await readFile(join(data, 'lock'), 'utf8'), 10)).toBe(b.run.child.pid);
    expect(await send('GET', `${b.metaUrl}/health`)).toMatchObject({ status: 200 });
    expect((await create(b, 'b3')).status).toBe(201);
    expect(await b.stop()).toMatchObject({ exitCode: 0, err: '' });

    const again = await start();
    expect(await names(again)).toEqual(['root', ...acknowledgedByB, 'b3']);
    await again.stop();
    const found = await start(elsewhere);
    expect(await names(found)).toEqual(expect.arrayContaining(acknowledgedByA));
    await found.stop();
    await rm(data, { recursive: true });
    await rm(elsewhere, { recursive: true });
  });

  it('reports the deleted folder, is unhealthy, stops properly, and does not create the folder again', async () => {
    const server = await start();
    const code = `exports.index = (event, context, callback) => callback(null, 'ran');`;
    const create = async (path: string, body: object) =>
      (await send('POST', `${server.metaUrl}/root${path}`, { auth, body })).body;
    const workspace = await create('/workspaces', { name: 'space' });
    const environment = await create(`/workspaces/${workspace.id}/environments`, {
      name: 'env',
      properties: { environment_type: 'test' },
    });
    const lambda = {
      code: Buffer.from(code).toString('base64'),
      code_type: 'code',
      runtime: 'nodejs',
      handler: 'index.index',
    };
    await create(`/environments/${environment.id}/lambdas`, { name: 'one', properties: lambda });
    // Removed first, so that writes of the platform shortly after the start or a change do not interfere.
    const removedFolder = join(cli.folder, 'gone');
    await rename(data, removedFolder);
    await rm(removedFolder, { recursive: true });
    expect((await send('GET', `${server.metaUrl}/health`)).status).toBe(503);
    await expect(create('', { name: 'refused' })).resolves.toMatchObject({ code: 503 });
    expect(existsSync(data)).toBe(false);
    const { exitCode, err } = await server.stop();
    expect(exitCode).toBe(0);
    expect(err).toMatch(LOST);
    expect(err.match(/^terrarium: the data folder/gm)).toHaveLength(1);
    expect(existsSync(data)).toBe(false);
  });

  it('continues in its folder when the link to it is changed', async () => {
    const link = join(cli.folder, 'link');
    const [firstFolder, secondFolder] = [join(cli.folder, 'one'), join(cli.folder, 'two')];
    await (await start(firstFolder)).stop();
    await symlink(firstFolder, link);
    const server = await start(link);
    await unlink(link);
    await (await start(secondFolder)).stop(); // so that no other platform can write there
    const before = await readdir(secondFolder);
    await symlink(secondFolder, link);
    expect((await create(server, 'kept')).status).toBe(201);
    expect((await server.stop()).exitCode).toBe(0);
    expect(await readdir(secondFolder)).toEqual(before);
    const again = await start(firstFolder);
    expect(await names(again)).toEqual(['root', 'kept']);
    await again.stop();
  });
});
