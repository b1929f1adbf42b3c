import { expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { createTenant } from '../../testing/tenant.ts';

const BATCH = 100;
/** More records than are read for one page. */
const BATCHES = 51;

const platform = sharedPlatform();

it('a page of forms reads a limited number of records, even if none of them is a form', async () => {
  const make = resourceFactoryFor(platform.root);
  const acme = await createTenant(platform.root, 'acme');
  const code = 'exports.run = async () => {};';
  const lambda = await make.lambda(acme, { code, env: { CRM_OID: '00D000000000001' } });
  const { public_url: url } = (await make.endpoint(await make.api(acme), lambda)).properties;
  const submit = () => fetch(url, { method: 'POST' }).then((response) => response.text());
  for (let batch = 0; batch < BATCHES; batch++) await Promise.all(Array.from({ length: BATCH }, submit));
  const read = async (query: string) => (await platform.root.send('GET', `/../inspect/forms?${query}`)).body;
  const first = await read('');
  expect(first).toMatchObject({ forms: [], next: expect.any(Number) });
  expect(await read(`before=${first.next}`)).toEqual({ forms: [], leads: 0 });
});
