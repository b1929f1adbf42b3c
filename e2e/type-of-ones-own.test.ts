import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { basic } from './checked-client.ts';
import type { Place } from './place.ts';
import type { Platform } from './platform.ts';

// What CONTRIBUTING says of a new resource type: one file, one registration, and all else follows. The registry is loaded anew, and
// what follows from it after that, so that no other test meets the type.
vi.resetModules();
const { register } = await import('../server/model/registry.ts');
register((await import('./gadget-for-tests.ts')).gadget);
const { startPlatform } = await import('./platform.ts');
const { lambdaBody, makePlace } = await import('./place.ts');

let platform: Platform;
let place: Place;
let gadgets: string;
let lambda: string;

beforeAll(async () => {
  platform = await startPlatform();
  place = await makePlace(platform.root, 'acme');
  gadgets = `${place.environment}/gadgets`;
  lambda = (await platform.root.create(`${place.environment}/lambdas`, lambdaBody(place, 'bell'))).id;
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

it('is made, read, listed, patched and deleted, and refused where it cannot stand', async () => {
  const { root } = platform;
  const made = await root.create(gadgets, { name: 'lamp', properties: { colour: 'red', pin: '1234' } });
  expect(made).toMatchObject({ resource_type: 'Platform::Resource::Gadget', properties: { colour: 'red' } });
  expect((await root.get('/acme/gadgets')).body).toMatchObject([{ id: made.id, name: 'lamp' }]);
  const patched = await root.patch(`/acme/gadgets/${made.id}`, [
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
  expect(await root.delete(`/acme/gadgets/${made.id}`)).toMatchObject({ status: 204 });
});

it('hides what nobody reads back, in answers and in the history', async () => {
  const { root } = platform;
  const made = await root.create(gadgets, { name: 'safe', properties: { colour: 'grey', pin: '98765' } });
  expect(made.properties).not.toHaveProperty('pin');
  const [{ seq }] = JSON.parse(await read('/inspect/history')).commits;
  const commit = await read(`/inspect/history/${seq}`);
  expect(commit).toContain('safe');
  expect(commit).not.toContain('98765');
  await root.delete(`/acme/gadgets/${made.id}`);
});

it('may name nothing that is not there, and is in the way of deleting what it names', async () => {
  const { root } = platform;
  const nothing = { name: 'horn', properties: { colour: 'red', lambda: '00000000-0000-4000-8000-000000000000' } };
  expect(await root.post(gadgets, nothing)).toMatchObject({
    status: 400,
    body: { details: [{ pointer: '/properties/lambda' }] },
  });
  const horn = await root.create(gadgets, { name: 'horn', properties: { colour: 'red', lambda } });
  expect(await root.delete(`/acme/lambdas/${lambda}`)).toMatchObject({ status: 409 });
  expect((await root.get(`/acme/gadgets/${horn.id}`)).body.properties.lambda).toBe(lambda);
});

it('is exported as a seed that names what it names by name', async () => {
  const seed = await read('/inspect/export');
  expect(JSON.stringify(parse(seed))).toContain('"gadgets":{"horn":{"properties":{"colour":"red","lambda":"bell"}}}');
});

it('stands in the document with its routes and what a form has to know', async () => {
  const document = JSON.parse(await read('/openapi.json'));
  expect(document.paths).toHaveProperty(['/meta/{fqon}/environments/{environment_id}/gadgets', 'post']);
  expect(document.paths).toHaveProperty(['/meta/{fqon}/gadgets/{gadget_id}', 'patch']);
  expect(document.components.schemas.GadgetProperties).toMatchObject({
    properties: {
      colour: { title: 'Paint', 'x-terrarium-form': { order: 1 } },
      lambda: { 'x-terrarium-reference': { word: 'lambdas' } },
      pin: { writeOnly: true },
    },
    required: ['colour'],
    'x-terrarium-first': { colour: 'green' },
  });
});

it('is one of the kinds that the window is built with', async () => {
  const { typeKinds } = await import('../server/contract/type-naming.ts');
  expect(typeKinds()).toContainEqual({
    word: 'gadgets',
    names: ['Resource::Gadget'],
    title: 'gadget',
    plural: 'Gadgets',
    schema: 'GadgetProperties',
    parents: ['environments'],
  });
});
