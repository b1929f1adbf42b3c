import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { basic } from '../server/testing/checked-client.ts';
import type { Platform } from '../server/testing/platform.ts';
import type { Tenant } from '../server/testing/tenant.ts';

// A new resource type needs one file, its plural name and one registration (CONTRIBUTING). The registry and the modules that use it are loaded again,
// so that no other test has the type.
vi.resetModules();
const { register } = await import('../server/model/registry.ts');
register((await import('../server/testing/gadget.ts')).gadget);
const { startPlatform } = await import('../server/testing/platform.ts');
const { lambdaBody, createTenant } = await import('../server/testing/tenant.ts');

let platform: Platform;
let tenant: Tenant;
let gadgets: string;
let lambda: string;

beforeAll(async () => {
  platform = await startPlatform();
  tenant = await createTenant(platform.root, 'acme');
  gadgets = `${tenant.environment}/gadgets`;
  lambda = (await platform.root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'bell'))).id;
});
afterAll(async () => {
  await platform?.stop();
  vi.resetModules();
});

const read = async (path: string): Promise<string> => {
  const { baseUrl, rootCredentials } = platform.emulator;
  const Authorization = basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '');
  return (await fetch(baseUrl + path, { headers: { Authorization } })).text();
};

it('is created, read, listed, patched and deleted, and refused below other types', async () => {
  const { root } = platform;
  const gadget = await root.create(gadgets, { name: 'lamp', properties: { colour: 'red', pin: '1234' } });
  expect(gadget).toMatchObject({ resource_type: 'Platform::Resource::Gadget', properties: { colour: 'red' } });
  expect((await root.get('/acme/gadgets?name=lamp')).body).toMatchObject([{ id: gadget.id, name: 'lamp' }]);
  const patched = await root.patch(`/acme/gadgets/${gadget.id}`, [
    { op: 'replace', path: '/properties/colour', value: 'blue' },
  ]);
  expect(patched).toMatchObject({ status: 200, body: { properties: { colour: 'blue' } } });
  expect(await root.post(gadgets, { name: 'x', properties: { colour: 1 } })).toMatchObject({
    status: 400,
    body: { details: [{ pointer: '/properties/colour' }] },
  });
  expect(await root.post('/acme/gadgets', { name: 'x', properties: { colour: 'red' } })).toMatchObject({ status: 404 });
  expect((await root.get('/acme/resourcetypes')).body).toContainEqual(
    expect.objectContaining({ name: 'Platform::Resource::Gadget' }),
  );
  expect(await root.delete(`/acme/gadgets/${gadget.id}`)).toMatchObject({ status: 204 });
});

it('hides secret values, in responses and in the history', async () => {
  const { root } = platform;
  const gadget = await root.create(gadgets, { name: 'safe', properties: { colour: 'grey', pin: '98765' } });
  expect(gadget.properties).not.toHaveProperty('pin');
  const [{ seq }] = JSON.parse(await read('/inspect/history')).commits;
  const commit = await read(`/inspect/history/${seq}`);
  expect(commit).toContain('safe');
  expect(commit).not.toContain('98765');
  await root.delete(`/acme/gadgets/${gadget.id}`);
});

it('must refer to existing resources, and blocks the deletion of its targets', async () => {
  const { root } = platform;
  const brokenReference = {
    name: 'siren',
    properties: { colour: 'red', lambda: '00000000-0000-4000-8000-000000000000' },
  };
  expect(await root.post(gadgets, brokenReference)).toMatchObject({
    status: 400,
    body: { details: [{ pointer: '/properties/lambda' }] },
  });
  const horn = await root.create(gadgets, { name: 'whistle', properties: { colour: 'red', lambda } });
  expect(await root.delete(`/acme/lambdas/${lambda}`)).toMatchObject({ status: 409 });
  expect((await root.get(`/acme/gadgets/${horn.id}`)).body.properties.lambda).toBe(lambda);
});

it('is exported as a seed with references by name', async () => {
  await platform.root.create(gadgets, { name: 'horn', properties: { colour: 'red', lambda } });
  const seed = await read('/inspect/export');
  expect(JSON.stringify(parse(seed))).toContain('"horn":{"properties":{"colour":"red","lambda":"bell"}}');
});

it('is in the document with its routes and the data for forms', async () => {
  const document = JSON.parse(await read('/openapi.json'));
  expect(document.paths).toHaveProperty(['/meta/{fqon}/environments/{environment_id}/gadgets', 'post']);
  expect(document.paths).toHaveProperty(['/meta/{fqon}/gadgets/{gadget_id}', 'patch']);
  expect(document.components.schemas.GadgetPropertiesRequest).toMatchObject({
    properties: {
      colour: { title: 'Paint', 'x-terrarium-form': { order: 1 } },
      lambda: { 'x-terrarium-reference': { word: 'lambdas' } },
      pin: { 'x-terrarium-secret': true },
    },
    required: ['colour'],
    'x-terrarium-first': { colour: 'green' },
  });
});

it('is one of the kinds that the window is built with', async () => {
  const { typeKinds } = await import('../server/api/routes/type-naming.ts');
  expect(typeKinds()).toContainEqual({
    collection: 'gadgets',
    names: ['Resource::Gadget'],
    title: 'gadget',
    plural: 'Gadgets',
    schema: 'GadgetPropertiesRequest',
    parents: ['environments'],
  });
});
