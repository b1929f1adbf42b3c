import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listenAt } from '../api/server/listening.ts';
import { startPlatform } from '../testing/platform.ts';

let folder: string;
let data: string;
let seed: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-first-world-'));
  data = path.join(folder, 'data');
  seed = path.join(folder, 'world.yaml');
  await writeFile(seed, 'format: 1\norgs: { acme: {} }\noutbound: [{ host: captcha.example, action: block }]\n');
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts and stops a platform in the folder; returns the organizations and the hosts of outbound rules. */
async function readWorld(seed?: string) {
  const { root, stop } = await startPlatform({ data, ...(seed && { seed }) });
  try {
    const [orgs, outbound] = [await root.get('/root/orgs'), await root.get('/../inspect/outbound')];
    return [orgs.body, outbound.body.rules].map((list) =>
      list.map((item: { name?: string; host?: string }) => item.name ?? item.host),
    );
  } finally {
    await stop();
  }
}

it('a first start that fails when the world is saved leaves the outbound rules of the seed, too', async () => {
  const server = createServer();
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  await expect(startPlatform({ data, seed, crmPort: port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  server.close();
  expect(await readWorld()).toEqual([['acme'], ['captcha.example']]);
});

it('outbound rules that a first start saved before it was killed do not hold in a world of another seed', async () => {
  await readWorld(seed);
  for (const name of ['world.json', 'journal.jsonl', 'history'])
    await rm(path.join(data, name), { recursive: true, force: true });
  expect(await readWorld('empty')).toEqual([[], []]);
  expect(await readWorld()).toEqual([[], []]);
});
