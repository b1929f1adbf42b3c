import { expect, it } from 'vitest';
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
