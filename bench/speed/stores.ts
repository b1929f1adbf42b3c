import type { ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLoad, load, median } from './calls.ts';
import { startFloor } from './floors.ts';
import type { Line } from './goals.ts';
import type { Load } from './load.ts';
import { endPeer, STORE_PEERS, startPeer } from './peers.ts';
import type { Terrarium } from './terrarium.ts';

/** Resources that are there when the measuring begins; json-server is given as many. */
const SIZE = 10_000;
const ROUND_MS = 1_000;
const CONNECTIONS = 10;

/** What the account of azurite's documentation has as its key. */
const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

type Asked = Omit<Load, 'durationMs' | 'connections'>;

/** Creates that are on disk when they are answered, beside stores of other emulators and a bare journal. */
export async function storeLines(options: {
  platform: Terrarium;
  loader: ChildProcess;
  self: string;
  folder: string;
  rounds: number;
  withPeers: boolean;
}): Promise<Line[]> {
  const { platform, loader, self, folder, rounds, withPeers } = options;
  const own = await createLoad(platform);
  const stores: { name: string; asked: Asked; perSecond: number[] }[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, asked: Asked): void => void stores.push({ name, asked, perSecond: [] });
  try {
    add('Terrarium', own);
    const floor = await startFloor('journal', self, folder);
    ends.push(() => floor.child.disconnect());
    add('journal', { ...own, port: floor.port, path: '/', headers: {} });
    for (const peer of withPeers ? STORE_PEERS : []) {
      const serving = await startPeer(peer, (place) =>
        writeFileSync(join(place, 'data.json'), JSON.stringify({ made: rows() })),
      ).catch((thrown: Error) => void console.error(thrown.message));
      if (!serving) continue;
      ends.push(() => endPeer(serving));
      add(
        serving.name,
        peer.name.startsWith('azurite')
          ? await tableOf(serving.port)
          : { port: serving.port, method: 'POST', path: '/made', body: '{"name":"made-{n}","text":"0123456789"}' },
      );
    }
    if (withPeers) await grow(platform, loader, own);
    for (let round = 0; round <= rounds; round += 1) {
      for (const { asked, perSecond } of stores) {
        const loaded = await load(loader, {
          ...asked,
          connections: CONNECTIONS,
          durationMs: withPeers ? ROUND_MS : ROUND_MS / 4,
        });
        if (loaded.refused > 0) throw new Error(`${asked.method} ${asked.path}: ${loaded.refused} refused`);
        if (round > 0) perSecond.push(loaded.perSecond);
      }
    }
  } finally {
    for (const end of ends) end();
  }
  const [ours, ...others] = stores.map(({ name, perSecond }) => ({ name, measured: median(perSecond) }));
  if (!ours) return [];
  const what = withPeers ? `durable create at ${SIZE.toLocaleString('en')} resources` : 'durable create';
  const goals: Record<string, number> = { 'azurite 3 (table)': 4, 'json-server 0.17': 40 };
  return others.map((beside) => {
    const atLeast = goals[beside.name];
    return { what, measured: ours.measured, unit: '/s', beside, ...(atLeast !== undefined && { goal: { atLeast } }) };
  });
}

async function grow(platform: Terrarium, loader: ChildProcess, asked: Asked): Promise<void> {
  const count = async () => (await platform.ask<unknown[]>('GET', `${await platform.environment()}/lambdas`)).length;
  while ((await count()) < SIZE) await load(loader, { ...asked, connections: CONNECTIONS, durationMs: ROUND_MS });
}

function rows(): object[] {
  return Array.from({ length: SIZE }, (_, id) => ({ id, name: `made-${id}`, text: '0123456789' }));
}

/** Makes a table; its key signs no body, so that one signature does for all. */
async function tableOf(port: number): Promise<Asked> {
  const account = 'devstoreaccount1';
  const date = new Date().toUTCString();
  const signed = (resource: string): Record<string, string> => {
    const text = `${date}\n/${account}/${account}/${resource}`;
    const signature = createHmac('sha256', Buffer.from(AZURITE_KEY, 'base64')).update(text).digest('base64');
    return {
      'x-ms-date': date,
      'x-ms-version': '2019-02-02',
      Accept: 'application/json;odata=nometadata',
      Authorization: `SharedKeyLite ${account}:${signature}`,
    };
  };
  const made = await fetch(`http://127.0.0.1:${port}/${account}/Tables`, {
    method: 'POST',
    headers: { ...signed('Tables'), 'Content-Type': 'application/json' },
    body: '{"TableName":"made"}',
  });
  if (!made.ok && made.status !== 409) throw new Error(`azurite made no table: ${made.status} ${await made.text()}`);
  const body = `{"PartitionKey":"p","RowKey":"${process.pid}-{n}","name":"made-{n}","text":"0123456789"}`;
  return { port, method: 'POST', path: `/${account}/made`, headers: signed('made'), body };
}
