import { describe, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { createTenant } from '../../testing/tenant.ts';

const SECRET = 'fern+moss/otter==';
/** Sends its event to the mock GitLab as a variable, and logs it. */
const CODE = `exports.run = async (event) => {
  const { url, token, value } = JSON.parse(event);
  const headers = { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ key: 'CRM_KEY', value, masked: true });
  const { status } = await fetch(url + '/projects/101/variables', { method: 'POST', headers, body });
  await (await fetch(url + '/projects/101/variables/CRM_KEY', { headers })).text();
  console.log('sent ' + value);
  return { status, value };
};`;

const platform = sharedPlatform({ seed: 'demo' });

const inspect = async (path: string) => {
  const url = `${platform.emulator.baseUrl}/inspect${path}`;
  return (await send('GET', url, { auth: rootPairOf(platform) })).body;
};

describe('the value of a masked variable', () => {
  it('is in nothing that was recorded, whether sent, answered or printed, and no search finds it', async () => {
    const { scmToken, scmUrl } = platform.emulator;
    const tenant = await createTenant(platform.root, 'acme');
    const make = resourceFactoryFor(platform.root);
    const lambda = await make.lambda(tenant, { code: CODE });
    const api = await make.api(tenant);
    const { properties } = await make.endpoint(api, lambda);
    const secretBody = { url: `${scmUrl}/api/v4`, token: scmToken, value: SECRET };
    const answer = await send('POST', properties.public_url, { body: secretBody });
    expect(answer.body).toEqual({ status: 201, value: SECRET });

    const { invocations } = await inspect(`/invocations?lambda=${lambda.id}`);
    const { requests } = await inspect('/traffic?plane=gateway');
    const invocation = await inspect(`/invocations/${invocations[0].executionId}`);
    const exchange = await inspect(`/traffic/${requests[0].seq}`);
    expect(invocation.outbound).toHaveLength(2);
    for (const record of [invocation, exchange, invocations, requests]) {
      const text = JSON.stringify(record);
      expect(text).not.toContain('moss');
      expect(text).not.toContain('otter');
    }
    expect(JSON.stringify(invocation.logs)).toContain('sent [masked]');
    expect(JSON.stringify(exchange)).toContain('[masked]');
    for (const q of ['moss', 'otter', 'event:moss', 'log:moss']) {
      const query = encodeURIComponent(q);
      expect((await inspect(`/invocations?lambda=${lambda.id}&q=${query}`)).invocations ?? [], q).toEqual([]);
    }
    expect((await inspect('/traffic?plane=gateway&q=body:moss')).requests).toEqual([]);
    expect((await inspect('/traffic?plane=gateway&q=body:CRM_KEY')).requests ?? []).toEqual([]);
  });
});
