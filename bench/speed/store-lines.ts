import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLoad } from './calls.ts';
import type { Line } from './goals.ts';
import { type Benchmark, type BenchmarkRequest, medianOf, type Subject } from './harness.ts';
import { endPeer, STORE_PEERS, startPeer } from './peers.ts';
import type { Terrarium } from './terrarium.ts';

/** Resources that exist before the measurement; json-server gets the same number. */
const SIZE = 10_000;

/** The account key from Azurite's documentation. */
const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** Creates that are on disk when they are answered, beside stores of other emulators and a bare journal. */
export async function storeLines(
  benchmark: Benchmark,
  platform: Terrarium,
  { rounds, withPeers }: { rounds: number; withPeers: boolean },
): Promise<Line[]> {
  const createRequest = await createLoad(platform);
  const { child, port } = await benchmark.baseline('journal');
  const subjects: Subject[] = [
    { name: 'Terrarium', child: platform.child, request: createRequest, rounds: [] },
    { name: 'journal', child, request: { ...createRequest, port, path: '/', headers: {} }, rounds: [] },
  ];
  for (const peer of withPeers ? STORE_PEERS : []) {
    const data = JSON.stringify({ made: rows() });
    const serving = await startPeer(peer, (folder) => writeFileSync(join(folder, 'data.json'), data)).catch(
      (thrown: Error) => void console.error(thrown.message),
    );
    if (!serving) continue;
    benchmark.atEnd(() => endPeer(serving));
    const request = peer.name.startsWith('azurite')
      ? await tableOf(serving.port)
      : { port: serving.port, method: 'POST', path: '/made', body: '{"name":"made-{n}","text":"0123456789"}' };
    subjects.push({ name: serving.name, child: serving.child, request, rounds: [] });
  }
  if (withPeers) await grow(benchmark, platform, createRequest);
  await benchmark.measure(subjects, { rounds, roundMs: withPeers ? 1_000 : 250 });
  const [terrariumResult, ...peerResults] = subjects.map((subject) => ({
    name: subject.name,
    measured: medianOf(subject, 'perSecond'),
  }));
  const label = withPeers ? `durable create at ${SIZE.toLocaleString('en')} resources` : 'durable create';
  const goals: Record<string, number> = { 'azurite 3 (table)': 4, 'json-server 0.17': 40 };
  return peerResults.map((reference) => {
    const atLeast = goals[reference.name];
    const goal = atLeast !== undefined && { goal: { atLeast } };
    return { label, measured: terrariumResult?.measured ?? Number.NaN, unit: '/s', reference, ...goal };
  });
}

async function grow(benchmark: Benchmark, platform: Terrarium, request: BenchmarkRequest): Promise<void> {
  const count = async () => (await platform.ask<unknown[]>('GET', `${await platform.environment()}/lambdas`)).length;
  while ((await count()) < SIZE) await benchmark.load({ ...request, connections: 10, durationMs: 1_000 });
}

function rows(): object[] {
  return Array.from({ length: SIZE }, (_, id) => ({ id, name: `made-${id}`, text: '0123456789' }));
}

/** Makes a table; its key signs no body, so that one signature does for all. */
async function tableOf(port: number): Promise<BenchmarkRequest> {
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
  const response = await fetch(`http://127.0.0.1:${port}/${account}/Tables`, {
    method: 'POST',
    headers: { ...signed('Tables'), 'Content-Type': 'application/json' },
    body: '{"TableName":"made"}',
  });
  if (!response.ok && response.status !== 409)
    throw new Error(`azurite made no table: ${response.status} ${await response.text()}`);
  const body = `{"PartitionKey":"p","RowKey":"${process.pid}-{n}","name":"made-{n}","text":"0123456789"}`;
  return { port, method: 'POST', path: `/${account}/made`, headers: signed('made'), body };
}
