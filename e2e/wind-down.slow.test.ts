import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basic, send } from '../server/testing/checked-client.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';

/** Stops the shipped server with SIGTERM while clients write and keep connections of all kinds open. */
const KEY = { TERRARIUM_ROOT_API_KEY: 'stop', TERRARIUM_ROOT_API_SECRET: 'test' };
const auth = basic('stop', 'test');
const WRITERS = 8;
const STOPS = 3;

const cli = new CliRunner();
const data = join(cli.folder, 'data');
beforeAll(buildCommand);
afterAll(() => cli.close());

interface Addresses {
  baseUrl: string;
  metaUrl: string;
  gatewayUrl: string;
}

async function start() {
  const readyFile = join(cli.folder, 'ready.json');
  const args = ['start', '--headless', '--data', data, '--seed', 'empty', '--ready-file', readyFile];
  const run = cli.start([...args, '--base-port', '0', '--gateway-port', '0'], { env: KEY });
  await run.waitForOutput('Ctrl+C');
  const addresses: Addresses = JSON.parse(readFileSync(readyFile, 'utf8'));
  return { run, ...addresses };
}

/** The responses that a writer got for its organizations. */
interface Tally {
  tried: number;
  acknowledged: string[];
  refused: string[];
}

/** Creates organizations over one persistent connection until the server refuses or has ended. */
async function write(metaUrl: string, name: string, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; ; count++) {
    const body = JSON.stringify({ name: `${name}-${count}` });
    const headers = { Authorization: auth, 'Content-Type': 'application/json', 'Content-Length': body.length };
    tally.tried += 1;
    const clientRequest = request(`${metaUrl}/root`, { method: 'POST', agent, headers }).end(body);
    const [answer] = await once(clientRequest, 'response').catch(() => []);
    if (!answer) break;
    let text = '';
    for await (const chunk of answer) text += chunk;
    if (answer.statusCode === 201) {
      tally.acknowledged.push(`${name}-${count}`);
      continue;
    }
    expect(answer.statusCode).toBe(503);
    expect(answer.headers.connection).toBe('close');
    expect(JSON.parse(text).message).toMatch(/^the platform is stopping, so the change was not made/);
    tally.refused.push(`${name}-${count}`);
    break;
  }
  agent.destroy();
}

/** Opens connections and requests that never end; resolves when the server has received all of them. */
async function holdOpen({ baseUrl, gatewayUrl }: Addresses, slowPath: string): Promise<void> {
  const port = Number(new URL(baseUrl).port);
  const silent = connect(port, '127.0.0.1').on('error', () => {});
  const half = connect(port, '127.0.0.1').on('error', () => {});
  half.write('POST /meta/root HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n');
  const body = connect(port, '127.0.0.1').on('error', () => {});
  body.write(`PATCH /meta/root HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${auth}\r\n`);
  body.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n[');
  const events = request(`${baseUrl}/inspect/events`, { headers: { Authorization: auth } }).on('error', () => {});
  events.end();
  const [stream] = await once(events, 'response');
  stream.on('error', () => {}).resume();
  expect(stream.headers['content-type']).toContain('text/event-stream');
  request(`${gatewayUrl}${slowPath}`)
    .on('error', () => {})
    .on('response', (response) => response.resume())
    .end();
  for (const socket of [silent, half, body]) if (socket.connecting) await once(socket, 'connect');
}

it('acknowledges every change that it makes, and closes all open connections', async () => {
  const acknowledgedNames = new Set(['root', 'slow']);
  const totals = { tried: 0, acknowledged: 0, refused: 0, unacknowledged: 0, lost: 0, slowestStopMs: 0 };
  let slowPath = '';
  for (let stop = 0; stop < STOPS; stop++) {
    const server = await start();
    const { metaUrl, run } = server;
    slowPath ||= await publishSlowLambda(metaUrl);
    await holdOpen(server, slowPath);
    const tally: Tally = { tried: 0, acknowledged: [], refused: [] };
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, at) => write(metaUrl, `s${stop}-w${at}`, tally)));
    await expect.poll(() => tally.acknowledged.length, { interval: 5 }).toBeGreaterThan(10 * (stop + 1));
    const startedAtMs = performance.now();
    run.child.kill('SIGTERM');
    const { exitCode, err } = await run.ended;
    totals.slowestStopMs = Math.max(totals.slowestStopMs, Math.round(performance.now() - startedAtMs));
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    await writers;

    const again = await start();
    const found = new Set<string>(
      (await send('GET', `${again.metaUrl}/orgs`, { auth })).body.map(({ name }: { name: string }) => name),
    );
    for (const name of tally.acknowledged) acknowledgedNames.add(name);
    totals.tried += tally.tried;
    totals.acknowledged += tally.acknowledged.length;
    totals.refused += tally.refused.length;
    totals.lost += [...acknowledgedNames].filter((name) => !found.has(name)).length;
    totals.unacknowledged += [...found].filter((name) => !acknowledgedNames.has(name)).length;
    again.run.child.kill('SIGTERM');
    await again.run.ended;
  }
  expect(totals).toMatchObject({ lost: 0, unacknowledged: 0 });
  expect(totals.refused).toBeGreaterThan(0);
  console.log(JSON.stringify(totals));
});

/** Publishes a lambda that takes longer than any drain; resolves to the path of its endpoint. */
async function publishSlowLambda(metaUrl: string): Promise<string> {
  const create = async (path: string, body: object) => (await send('POST', `${metaUrl}${path}`, { auth, body })).body;
  await create('/root', { name: 'slow' });
  await send('POST', `${metaUrl}/root/providers/initialize`, { auth });
  const { body: providers } = await send('GET', `${metaUrl}/root/providers`, { auth });
  const idOf = (name: string) => ({ id: providers.find((provider: { name: string }) => provider.name === name).id });
  const workspace = await create('/slow/workspaces', { name: 'w' });
  const environment = await create(`/slow/workspaces/${workspace.id}/environments`, {
    name: 'e',
    properties: { environment_type: 'test' },
  });
  const code = Buffer.from('exports.run = (event, context, callback) => setTimeout(callback, 500000);').toString(
    'base64',
  );
  const at = `/slow/environments/${environment.id}`;
  const lambda = await create(`${at}/lambdas`, {
    name: 'slow',
    properties: {
      provider: idOf('default-lambda'),
      code_type: 'code',
      code,
      runtime: 'nodejs',
      handler: 'run',
      public: true,
      timeout: 500,
      memory: 128,
    },
  });
  const api = await create(`${at}/apis`, { name: 'slow', properties: { provider: idOf('default-gateway-manager') } });
  await create(`/slow/apis/${api.id}/apiendpoints`, {
    name: 'e',
    properties: { resource: '/e', implementation_type: 'lambda', implementation_id: lambda.id },
  });
  return '/slow/e';
}
