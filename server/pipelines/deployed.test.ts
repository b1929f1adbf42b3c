import { afterAll, beforeAll, expect, it } from 'vitest';
import { containerBody, makePlace } from '../../e2e/place.ts';
import { type Platform, startPlatform } from '../../e2e/platform.ts';
import { whenItAnswers } from './deployed.ts';
import { KeyPairCalls } from './platform-calls.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ containers: { engine: 'none' } });
});
afterAll(() => platform?.stop());

it('ends at once for an app whose container nothing can run, and says what to do', async () => {
  const { baseUrl } = platform.emulator;
  const { apiKey: key, apiSecret: secret = '' } = platform.emulator.rootCredentials;
  const calls = new KeyPairCalls(baseUrl, { key, secret });
  const here = await makePlace(platform.root, 'acme');
  const { id: containerId } = await platform.root.create(`${here.environment}/containers`, containerBody(here, 'web'));
  const told: string[] = [];
  const { signal } = new AbortController();
  const end = await whenItAnswers(
    calls,
    { containerId, url: 'http://127.0.0.1:9' },
    { signal, tell: (text) => told.push(text) },
  );
  expect(end).toBe(
    'its container cannot run: no container engine is attached: the setting containers.engine is none; set it to auto or to an address',
  );
  expect(told).toEqual([]);
});
