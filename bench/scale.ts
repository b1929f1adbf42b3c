// What the platform costs its clients in worlds of 1,000 and 100,000 resources: start-up, lists, searches, creates and patches
// over real HTTP. Look at the growth; the figures are this machine's.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { growWorld } from '../e2e/large-world.ts';
import { type Emulator, startEmulator } from '../server/emulator.ts';

const SIZES = [1_000, 100_000];
const ROUNDS = 40;

/** Lets the platform write the world once, so that what is measured opens a file of its own and not one edited by hand. */
async function makeItsOwn(data: string): Promise<void> {
  const { metaUrl, rootCredentials, stop } = await startEmulator({ data, seed: 'empty' });
  const headers = { Authorization: basic(rootCredentials), 'Content-Type': 'application/json' };
  await fetch(`${metaUrl}/orgs`, { method: 'POST', headers, body: '{"name":"one-more"}' });
  await stop();
}

function basic({ apiKey, apiSecret }: Emulator['rootCredentials']): string {
  return `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
}

/** Median time of a request in ms. */
async function median(request: (round: number) => Promise<Response>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    const response = await request(round);
    await response.text();
    if (response.status >= 300) throw new Error(`${response.url} answered ${response.status}`);
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[ROUNDS / 2] ?? Number.NaN;
}

async function measure(size: number): Promise<Record<string, number>> {
  const data = await mkdtemp(join(tmpdir(), 'terrarium-scale-'));
  let emulator: Emulator | undefined;
  try {
    await (await startEmulator({ data, seed: 'empty' })).stop();
    const { organization, environment, lambda } = await growWorld(data, size);
    await makeItsOwn(data);
    const begin = performance.now();
    emulator = await startEmulator({ data, seed: 'empty' });
    const startMs = performance.now() - begin;
    const { metaUrl, rootCredentials } = emulator;
    const headers = { Authorization: basic(rootCredentials), 'Content-Type': 'application/json' };
    const get = (path: string) => median(() => fetch(metaUrl + path, { headers }));
    const send = (method: string, path: string, body: (round: number) => unknown) =>
      median((round) => fetch(metaUrl + path, { method, headers, body: JSON.stringify(body(round)) }));
    return {
      'start-up': startMs,
      'read one': await get(`/${organization}/lambdas/${lambda}`),
      'list an environment, expanded': await get(`/${organization}/environments/${environment}/lambdas?expand=true`),
      'find by name': await get(`/${organization}/lambdas?name=lambda-7`),
      'search organizations': await get('/orgs/search?name=org-0'),
      create: await send('POST', `/${organization}/environments/${environment}/apis`, (round) => ({
        name: `api-${round}`,
      })),
      patch: await send('PATCH', `/${organization}/lambdas/${lambda}`, (round) => [
        { op: 'replace', path: '/properties/env/N', value: `v${round}` },
      ]),
    };
  } finally {
    await emulator?.stop();
    await rm(data, { recursive: true, force: true });
  }
}

const [small = {}, large = {}] = [await measure(SIZES[0] ?? 0), await measure(SIZES[1] ?? 0)];
console.log(
  `\nms, median of ${ROUNDS}`.padEnd(36),
  ...SIZES.map((size) => String(size).padStart(10)),
  'growth'.padStart(10),
);
for (const [what, before] of Object.entries(small)) {
  const after = large[what] ?? Number.NaN;
  console.log(
    what.padEnd(35),
    before.toFixed(2).padStart(10),
    after.toFixed(2).padStart(10),
    `${(after / before).toFixed(2)}x`.padStart(10),
  );
}
