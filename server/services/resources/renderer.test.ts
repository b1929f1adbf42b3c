import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, lambdaBody, type Tenant } from '../../testing/tenant.ts';
import { RenderedTexts } from './renderer.ts';

const { root } = sharedPlatform();
let acme: Tenant;
let lambda: Body;
beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'sum'));
});

const listed = async (query = '') => (await root.get(`${acme.environment}/lambdas?expand=true${query}`)).body;

it('a kept response is not used after the resource or its references have changed', async () => {
  const path = `/acme/lambdas/${lambda.id}`;
  const before = (await root.get(path)).body;
  expect(before).toEqual(lambda);
  expect(await listed()).toEqual([lambda]);
  expect(await listed()).toEqual([lambda]);
  await root.patch(path, [{ op: 'replace', path: '/name', value: 'total' }]);
  expect((await root.get(path)).body.name).toBe('total');
  expect(await listed()).toMatchObject([{ name: 'total' }]);
  // Of the environment that it is in it shows the name.
  const environmentName = before.properties.parent.name;
  await root.patch(`/acme/environments/${before.properties.parent.id}`, [
    { op: 'replace', path: '/name', value: `${environmentName}-2` },
  ]);
  expect((await root.get(path)).body.properties.parent.name).toBe(`${environmentName}-2`);
  expect(await listed()).toMatchObject([{ properties: { parent: { name: `${environmentName}-2` } } }]);
  expect(await listed('&name=unknown')).toEqual([]);
});

it('a provider shows its credentials only in responses to requests for them', async () => {
  const path = `/root/providers/${acme.lambdas}`;
  const hidden = (await root.get(path)).body;
  const open = (await root.get(`${path}?showcredentials=true`)).body;
  expect((await root.get(path)).body).toEqual(hidden);
  expect((await root.get(`${path}?showcredentials=true`)).body).toEqual(open);
});

it('keeps texts until the world changes, and no more than it may', () => {
  // As: nothing else of a view or of a record is asked for.
  const textsOf = (view: object) => new RenderedTexts(view as ConstructorParameters<typeof RenderedTexts>[0]);
  const record = (id: number) => ({ id }) as unknown as Parameters<RenderedTexts['textOf']>[1];
  let renderCount = 0;
  const render = () => `${++renderCount}${'x'.repeat(3 * 1024 * 1024)}`;
  const unchangedRecord = record(1);
  const view = { revision: 1 };
  const texts = textsOf(view);
  for (let turn = 0; turn < 2; turn += 1) texts.textOf('reader', unchangedRecord, render);
  expect(renderCount).toBe(1);
  texts.textOf('another', unchangedRecord, render);
  expect(renderCount).toBe(2);
  view.revision += 1;
  texts.textOf('reader', unchangedRecord, render);
  expect(renderCount).toBe(3);
  for (let id = 2; id < 6; id += 1) texts.textOf('reader', record(id), render);
  texts.textOf('reader', unchangedRecord, render);
  expect(renderCount).toBe(8);
});
