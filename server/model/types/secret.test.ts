import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';

function setting() {
  const world = new WorldForTests();
  const { environment, docker } = world.withEnvironment();
  const provider = { id: docker.id };
  const create = (properties: JsonObject) => world.create('secrets', { under: environment, properties });
  return { world, provider, create };
}

test('values are stored as sent and never shown (D-029, D-078)', () => {
  const { world, provider, create } = setting();
  const items = [
    { key: 'a', value: 'cGxhaW4=' },
    { key: 'b', value: 'plain' },
  ];
  const secret = create({ provider, items });
  expect(secret.properties).toEqual({ provider, items });
  expect(world.shown(secret)).toEqual({ provider, items: [{ key: 'a' }, { key: 'b' }] });
});

test('an item without a value keeps the stored one (D-078)', () => {
  const { world, provider, create } = setting();
  const secret = create({
    provider,
    items: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ],
  });
  const changed = world.update(secret, { provider, items: [{ key: 'b' }, { key: 'c', value: '3' }] });
  expect(changed.properties.items).toEqual([
    { key: 'b', value: '2' },
    { key: 'c', value: '3' },
  ]);
  expect(refusalOf(() => world.update(secret, { provider, items: [{ key: 'a' }] }))).toMatchObject({
    status: 400,
    pointer: '/properties/items/0/value',
  });
});

test.each([
  [{ items: undefined }, 400, '/properties/items'],
  [{ items: [{ value: 'x' }] }, 400, '/properties/items/0/key'],
  [{ items: [{ key: 'a', value: 5 }] }, 400, '/properties/items/0/value'],
  [{ items: [{ key: 'a' }] }, 400, '/properties/items/0/value'],
  [
    {
      items: [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ],
    },
    400,
    '/properties/items/1/key',
  ],
  [{ provider: undefined }, 400, '/properties/provider'],
  [{ provider: { id: NOBODY } }, 404, undefined],
])('%j is %i', (change, status, pointer) => {
  const { provider, create } = setting();
  // A member that is undefined stands for one that is not sent.
  const sent = JSON.parse(JSON.stringify({ provider, items: [], ...change }));
  expect(refusalOf(() => create(sent))).toMatchObject({ status, ...(pointer !== undefined && { pointer }) });
});
