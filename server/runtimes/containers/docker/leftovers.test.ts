import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ownerHere } from '../../../system/owner.ts';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { type EngineServer, json, startEngineServer } from '../../../testing/engine-server.ts';
import { describeLeftovers, lockedSentence } from '../leftover-sentence.ts';
import { DockerEngine } from './docker-engine.ts';
import { clearWorld } from './leftovers.ts';

const WORLD = '11111111-2222-4333-8444-555555555555';
const NETWORK = { Id: 'ab12', Name: 'terrarium-network', Scope: 'local', Labels: { 'terrarium.world': WORLD } };

/** An engine with one network, which it refuses to remove with the answer of Docker 20.10 while it counts endpoints. */
async function engineWithNetwork(containers: object, isRemovable: () => boolean): Promise<string> {
  let isRemoved = false;
  const server = createServer(({ method, url = '' }, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (method === 'DELETE' && !isRemovable())
      return answer(403, { message: `error while removing network: network ${NETWORK.Name} has active endpoints` });
    if (method === 'DELETE') isRemoved = true;
    if (url.includes('/networks/')) return answer(200, { ...NETWORK, Containers: containers });
    if (url.includes('/networks')) return answer(200, isRemoved ? [] : [NETWORK]);
    if (url.includes('/volumes')) return answer(200, { Volumes: [] });
    if (url.includes('/containers')) return answer(200, []);
    return answer(503, { message: 'This node is not a swarm manager.' });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has one
}

async function clear(url: string, limitMs: number, lockedAfterMs?: number) {
  const connection = connectForTests(url);
  const options = { volumes: true, limitMs, ...(lockedAfterMs !== undefined && { lockedAfterMs }) };
  const leftovers = await clearWorld(connection, { worldId: WORLD }, options);
  connection.close();
  return leftovers;
}

describe('a network that the engine does not remove', () => {
  const none = { containers: [], services: [], networks: [], volumes: [] };

  it('is locked, not left behind, when nothing is in it', async () => {
    const leftovers = await clear(await engineWithNetwork({}, () => false), 30_000);
    expect(leftovers).toEqual({ ...none, lockedNetworks: [NETWORK.Name] });
    expect(describeLeftovers(leftovers)).toBe('1 network (terrarium-network) until the engine is restarted');
    expect(lockedSentence('ADDRESS', [NETWORK.Name])).toBe(
      'the container engine at ADDRESS keeps 1 network (terrarium-network), although no container uses it: restart the engine, then run `npx terrarium-emulator clean`',
    );
  });

  it('is left behind when another program has a container in it', async () => {
    const url = await engineWithNetwork({ cd34: { Name: 'foreign' } }, () => false);
    expect(await clear(url, 4_000)).toEqual({ ...none, networks: [NETWORK.Name] });
  });

  it('is removed when its last container has gone', async () => {
    let attempts = 0;
    expect(await clear(await engineWithNetwork({}, () => ++attempts > 2), 60_000, 60_000)).toEqual(none);
  });
});

describe('an engine in which another folder has something of the same world', () => {
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
