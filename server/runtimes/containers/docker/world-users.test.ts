import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownerHere } from '../../../system/owner.ts';
import { beginOf } from '../../../system/processes.ts';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { type EngineServer, json, startEngineServer } from '../../../testing/engine-server.ts';
import { DockerEngine } from './docker-engine.ts';

const worldId = newWorldId();

let server: EngineServer;
let engine: DockerEngine;
let original: string;
let copy: string;
let other: ReturnType<typeof spawn>;

beforeEach(async () => {
  [original, copy] = (await Promise.all(['original-', 'copy-'].map((name) => mkdtemp(join(tmpdir(), name))))) as [
    string,
    string,
  ];
  other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  server = await startEngineServer();
  const labels = { 'terrarium.world': worldId, 'terrarium.owner': JSON.stringify(await ownerHere(original)) };
  server.answer(/^\/containers/, json([{ Id: 'ab', Names: ['/shop'], Created: 1, Labels: labels }]));
  engine = new DockerEngine({ worldId, owner: await ownerHere(copy), connection: connectForTests(server.url) });
  await writeFile(join(original, 'world.json'), JSON.stringify({ id: worldId }));
  await writeFile(join(original, 'lock'), `${other.pid}\n${await beginOf(other.pid ?? 0)}\n`);
});
afterEach(async () => {
  other.kill();
  engine.close();
  await server.stop();
  for (const folder of [original, copy]) await rm(folder, { recursive: true });
});

describe('an engine in which another folder has containers of the same world', () => {
  it('is not used while a platform runs in that folder, which the reason names with the copy', async () => {
    const failure = await engine.ping().catch((reason: Error) => reason);
    expect(failure).toMatchObject({ name: 'EngineUnreachable' });
    for (const part of [original, copy, String(other.pid), server.url]) expect(String(failure)).toContain(part);
  });

  it('is used when no platform runs there', async () => {
    await rm(join(original, 'lock'));
    await engine.ping();
  });

  it('is used when that folder has another world by now', async () => {
    await writeFile(join(original, 'world.json'), JSON.stringify({ id: newWorldId() }));
    await engine.ping();
  });

  it('is used by the platform of that folder', async () => {
    const owner = await ownerHere(original, other.pid);
    const originalEngine = new DockerEngine({ worldId, owner, connection: connectForTests(server.url) });
    await originalEngine.ping();
    originalEngine.close();
  });
});
