import { expect, test } from 'vitest';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

test('an organization shows its fqon and its children, and no children when there are none (D-040)', () => {
  const world = new WorldForTests();
  const child = world.create('orgs', { name: 'child', properties: { env: { A: '1' } } });
  const grandchild = world.create('orgs', { name: 'deep', under: child });

  expect(world.shown(world.root)).toMatchObject({ fqon: 'root', children: [{ id: child.id, name: 'child' }] });
  expect(world.shown(child)).toMatchObject({ fqon: 'child', env: { A: '1' }, children: [{ id: grandchild.id }] });
  expect(world.shown(grandchild)).toEqual({ fqon: 'child.deep' });
});

test.each(['users', 'health', 'oauth', 'init'])('the name %s is reserved for paths at any depth (D-041)', (name) => {
  const world = new WorldForTests();
  const child = world.create('orgs', { name: 'child' });
  expect(refusalOf(() => world.create('orgs', { name }))).toMatchObject({ status: 400, pointer: '/name' });
  expect(refusalOf(() => world.create('orgs', { name, under: child }))).toMatchObject({ status: 400 });
});

test('root is neither renamed nor deleted, and no second root stands below it (D-041)', () => {
  const world = new WorldForTests();
  expect(world.update(world.root, { env: { A: '1' } }).properties).toEqual({ env: { A: '1' } });
  expect(refusalOf(() => world.update(world.root, {}, 'other'))).toMatchObject({ status: 409 });
  expect(refusalOf(() => world.release(world.root))).toMatchObject({ status: 409 });
  expect(refusalOf(() => world.create('orgs', { name: 'root' }))).toMatchObject({ status: 409 });
  expect(() => world.release(world.create('orgs', { name: 'child' }))).not.toThrow();
});

test.each([
  [{ env: { A: 1 } }, '/properties/env/A', 'must be a string'],
  [{ env: { 'not a name': 'x' } }, '/properties/env/not a name', 'is not a name for an environment variable'],
  [{ env: [] }, '/properties/env', 'must be an object'],
  [{ colour: 'red' }, '/properties/colour', 'is not a known member'],
])('%j is refused at its place (D-033, D-110)', (properties, pointer, message) => {
  const world = new WorldForTests();
  const refusal = refusalOf(() => world.create('orgs', { name: 'child', properties }));
  expect(refusal).toMatchObject({ status: 400, pointer });
  expect(refusal.message).toContain(message);
});
