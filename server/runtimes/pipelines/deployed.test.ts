import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { containerBody, createTenant } from '../../testing/tenant.ts';
import { waitForApp } from './deployed.ts';
import { KeyPairCalls } from './platform-calls.ts';

const platform = sharedPlatform({ containers: { engine: 'none' } });

it('ends at once for an app whose container nothing can run, and says what to do', async () => {
  const { baseUrl } = platform.emulator;
  const { apiKey: key, apiSecret: secret = '' } = platform.emulator.rootCredentials;
  const calls = new KeyPairCalls(baseUrl, { key, secret });
  const tenant = await createTenant(platform.root, 'acme');
  const { id: containerId } = await platform.root.create(
    `${tenant.environment}/containers`,
    containerBody(tenant, 'web'),
  );
  const reported: string[] = [];
  const { signal } = new AbortController();
  const { problem } = await waitForApp(
    calls,
    { containerId, name: 'web', urls: ['http://127.0.0.1:9'] },
    { signal, expected: [], report: (text) => reported.push(text) },
  );
  expect(problem).toBe(
    'its container cannot run: no container engine is attached: the setting containers.engine is none; set it to auto or to an address',
  );
  expect(reported).toEqual([]);
});

/** Waits for an app without a container, whose server answers with these statuses after these times, and then with 200. */
async function waitForAnswers(answers: readonly { status: number; afterMs?: number }[]) {
  const waiting = [...answers];
  const server = createServer((_request, response) => {
    const { status, afterMs = 0 } = waiting.shift() ?? { status: 200 };
    setTimeout(() => response.writeHead(status).end(), afterMs);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has a port
  const url = `http://127.0.0.1:${port}/`;
  const { baseUrl, rootCredentials } = platform.emulator;
  const calls = new KeyPairCalls(baseUrl, { key: rootCredentials.apiKey, secret: rootCredentials.apiSecret ?? '' });
  const reported: string[] = [];
  const { signal } = new AbortController();
  const options = { signal, expected: [], report: (text: string) => reported.push(text) };
  return { app: await waitForApp(calls, { containerId: undefined, name: 'web', urls: [url] }, options), reported, url };
}

it('reports the successful response last if the app responded with an error before', async () => {
  const { app, reported, url } = await waitForAnswers([{ status: 503 }]);
  expect(app).toMatchObject({ status: 200 });
  expect(reported).toEqual([`${url} responds with 503`, `${url} responds with 200`]);
});

it('does not add up errors between which the app was not ready', async () => {
  const { app } = await waitForAnswers([{ status: 500 }, { status: 503, afterMs: 5_500 }, { status: 500 }]);
  expect(app).toMatchObject({ status: 200 });
  expect(app).not.toHaveProperty('problem');
});
