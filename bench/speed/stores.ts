import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLoad } from './calls.ts';
import type { Line } from './goals.ts';
import { type Asked, type Bench, medianOf, type Subject } from './harness.ts';
import { endPeer, STORE_PEERS, startPeer } from './peers.ts';
import type { Terrarium } from './terrarium.ts';

/** Resources that exist before the measurement; json-server gets the same number. */
const SIZE = 10_000;

/** What the account of azurite's documentation has as its key. */
const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** Creates that are on disk when they are answered, beside stores of other emulators and a bare journal. */
export async function storeLines(
  bench: Bench,
  platform: Terrarium,
  { rounds, withPeers }: { rounds: number; withPeers: boolean },
): Promise<Line[]> {
  const own = await createLoad(platform);
  const { child, port } = await bench.baseline('journal');
  const subjects: Subject[] = [
    { name: 'Terrarium', child: platform.child, asked: own, rounds: [] },
    { name: 'journal', child, asked: { ...own, port, path: '/', headers: {} }, rounds: [] },
  ];
  for (const peer of withPeers ? STORE_PEERS : []) {
    const data = JSON.stringify({ made: rows() });
    const serving = await startPeer(peer, (place) => writeFileSync(join(place, 'data.json'), data)).catch(
      (thrown: Error) => void console.error(thrown.message),
    );
    if (!serving) continue;
    bench.atEnd(() => endPeer(serving));
    const asked = peer.name.startsWith('azurite')
      ? await tableOf(serving.port)
      : { port: serving.port, method: 'POST', path: '/made', body: '{"name":"made-{n}","text":"0123456789"}' };
    subjects.push({ name: serving.name, child: serving.child, asked, rounds: [] });
  }
  if (withPeers) await grow(bench, platform, own);
  await bench.measure(subjects, { rounds, roundMs: withPeers ? 1_000 : 250 });
  const [ours, ...others] = subjects.map((subject) => ({
    name: subject.name,
    measured: medianOf(subject, 'perSecond'),
  }));
  const what = withPeers ? `durable create at ${SIZE.toLocaleString('en')} resources` : 'durable create';
  const goals: Record<string, number> = { 'azurite 3 (table)': 4, 'json-server 0.17': 40 };
  return others.map((beside) => {
    const atLeast = goals[beside.name];
    const goal = atLeast !== undefined && { goal: { atLeast } };
    return { what, measured: ours?.measured ?? Number.NaN, unit: '/s', beside, ...goal };
  });
}

async function grow(bench: Bench, platform: Terrarium, asked: Asked): Promise<void> {
  const count = async () => (await platform.ask<unknown[]>('GET', `${await platform.environment()}/lambdas`)).length;
  while ((await count()) < SIZE) await bench.load({ ...asked, connections: 10, durationMs: 1_000 });
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
