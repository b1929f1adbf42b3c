import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownerHere } from '../../../system/owner.ts';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { type EngineServer, json, startEngineServer } from '../../../testing/engine-server.ts';
import { DockerEngine } from './docker-engine.ts';

const worldId = newWorldId();

let server: EngineServer;
let folder: string;
let original: string;
let copy: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copies-'));
  [original, copy] = [await mkdtemp(join(folder, 'original-')), await mkdtemp(join(folder, 'copy-'))];
  await writeFile(join(original, 'world.json'), JSON.stringify({ id: worldId }));
  server = await startEngineServer();
});
afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const labels = async () => ({
  'terrarium.world': worldId,
  'terrarium.owner': JSON.stringify(await ownerHere(original)),
});
const keepContainer = async () =>
  server.answer(/^\/containers/, json([{ Id: 'ab', Names: ['/shop'], Created: 1, Labels: await labels() }]));

/** Resolves to the name and version of the engine, or to the reason why it is not used from a folder. */
async function resultFrom(dataDir: string): Promise<unknown> {
  const connection = connectForTests(server.url);
  const engine = new DockerEngine({ worldId, owner: await ownerHere(dataDir), connection });
  return engine
    .ping()
    .catch((reason: Error) => reason)
    .finally(() => engine.close());
}

describe('an engine in which another folder has something of the same world', () => {
  it('is not used from a copy, whose reason names both folders', async () => {
    await keepContainer();
    const failure = await resultFrom(copy);
    expect(failure).toMatchObject({ name: 'EngineUnreachable' });
    for (const part of [original, copy, server.url]) expect(String(failure)).toContain(part);
    expect(String(failure)).toContain(`reset --new-id --data ${copy}`);
  });

  it('is not used from a copy if it has no more than a volume', async () => {
    server.answer(/^\/volumes/, json({ Volumes: [{ Name: 'data', Labels: await labels() }] }));
    expect(await resultFrom(copy)).toMatchObject({ name: 'EngineUnreachable' });
  });

  it('is not used from a copy if it has no more than a service of a swarm', async () => {
    server.answer(/^\/services/, json([{ ID: 'ab', Spec: { Name: 'shop', Labels: await labels() } }]));
    expect(await resultFrom(copy)).toMatchObject({ name: 'EngineUnreachable' });
  });

  it('is not cleared by a platform that used it before, and is asked for each kind of resource once', async () => {
    await keepContainer();
    const connection = connectForTests(server.url);
    const engine = new DockerEngine({ worldId, owner: await ownerHere(copy), connection });
    await expect(engine.clear({ volumes: true, limitMs: 10_000 })).rejects.toThrow(original);
    const paths = server.requests.map((request) => request.replace(/\?.*/, '')).sort();
    expect(paths).toEqual(['/configs', '/containers/json', '/networks', '/services', '/volumes']);
    engine.close();
  });

  it('is used when the other folder is gone', async () => {
    await keepContainer();
    await rm(original, { recursive: true });
    expect(await resultFrom(copy)).toContain('Docker');
  });

  it('is used when that folder has another world by now', async () => {
    await keepContainer();
    await writeFile(join(original, 'world.json'), JSON.stringify({ id: newWorldId() }));
    expect(await resultFrom(copy)).toContain('Docker');
  });

  it('is used from that folder, also through a link', async () => {
    await keepContainer();
    await symlink(original, join(folder, 'link'), 'junction');
    expect(await resultFrom(original)).toContain('Docker');
    expect(await resultFrom(join(folder, 'link'))).toContain('Docker');
  });
});
