import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import type { Body } from '../../testing/tenant.ts';
import { KeyPairCalls } from './platform-calls.ts';
import { targetVariables } from './target.ts';

const platform = sharedPlatform({ seed: 'demo' });

beforeAll(async () => {
  const { root } = platform;
  const create = async (path: string, body: object): Promise<Body> => (await root.post(path, body)).body;
  for (const [parent, name] of [
    ['root', 'other'],
    ['demo', 'shop'],
  ] as const) {
    await create(`/${parent}/orgs`, { name });
    const fqon = parent === 'root' ? name : `${parent}.${name}`;
    const workspace = await create(`/${fqon}/workspaces`, { name: 'web' });
    const properties = { environment_type: 'development' };
    const environment = await create(`/${fqon}/workspaces/${workspace.id}/environments`, { name: 'dev', properties });
    const [provider] = (await root.get('/root/providers?type=GatewayManager&expand=true')).body;
    const gateway = { id: provider.id, locations: [provider.properties.linked_providers[0].id] };
    await create(`/${fqon}/environments/${environment.id}/apis`, {
      name: `api-${name}`,
      properties: { provider: gateway },
    });
  }
});

const deployUrlOf = async (org: string) => {
  const { baseUrl, rootCredentials } = platform.emulator;
  const { apiKey: key, apiSecret: secret = '' } = rootCredentials;
  const target = { org, environment: undefined, api: undefined };
  return (await targetVariables(new KeyPairCalls(baseUrl, { key, secret }), target)).PLATFORM_DEPLOY_URL;
};

it('the deployment address is that of the target organization or of the nearest one above it (D-194)', async () => {
  const { gatewayUrl } = platform.emulator;
  expect(await deployUrlOf('demo')).toBe(`${gatewayUrl}/ci/deploy`);
  expect(await deployUrlOf('demo.shop')).toBe(`${gatewayUrl}/ci/deploy`);
  // Another organization would receive the key pair of the run.
  expect(await deployUrlOf('other')).toBeUndefined();
});
