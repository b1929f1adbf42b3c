import { applyOperation, type Operation } from 'fast-json-patch';
import { expect, test } from 'vitest';
import { group } from './group.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

function setting() {
  const world = new WorldForTests();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => world.create('users', { name, properties: { password: 'x' } }));
  if (!a || !b || !c) throw new Error('three names make three users');
  return { world, a, b, c };
}

test('users are sent as ids or links, stored as ids, shown as links, and always there (D-071)', () => {
  const { world, a, b } = setting();
  const users = [a.id.toUpperCase(), { id: b.id, name: 'b' }, a.id];
  const staff = world.create('groups', { properties: { users } });
  expect(staff.properties.users).toEqual([a.id, b.id]);
  expect(world.shown(staff).users).toMatchObject([
    { id: a.id, name: 'a' },
    { id: b.id, name: 'b' },
  ]);
  expect(world.create('groups').properties).toEqual({ users: [] });
});

test('who is no user is no member (D-073)', () => {
  const { world, a } = setting();
  const create = (...users: string[]) => refusalOf(() => world.create('groups', { properties: { users } }));
  expect(create(a.id, world.root.id)).toMatchObject({ status: 400, pointer: '/properties/users/1' });
  expect(create('bob')).toMatchObject({ status: 400, pointer: '/properties/users/0' });
});

test('a deleted user leaves the group (D-072)', () => {
  const { world, a, b, c } = setting();
  const staff = world.create('groups', { properties: { users: [a.id, b.id] } });
  expect(world.forget(staff, a)).toEqual({ users: [b.id] });
  expect(world.forget(staff, c)).toBeUndefined();
});

test('a patch adds and removes members by id, as well as by index (D-073)', () => {
  const { world, a, b, c } = setting();
  const staff = world.create('groups', { properties: { users: [a.id, b.id] } });
  const patched = (...operations: object[]) => {
    let record = structuredClone({ properties: staff.properties });
    for (const sent of operations) {
      const operation = sent as Operation; // `remove` with a value is none of RFC 6902
      record = applyOperation(record, group.rewrite?.(operation, record) ?? operation).newDocument;
    }
    return record.properties.users;
  };
  const path = '/properties/users';

  expect(patched({ op: 'add', path, value: c.id })).toEqual([a.id, b.id, c.id]);
  expect(patched({ op: 'add', path, value: [c.id] })).toEqual([c.id]);
  expect(patched({ op: 'replace', path, value: [c.id] })).toEqual([c.id]);
  expect(patched({ op: 'add', path: `${path}/0`, value: c.id })).toEqual([c.id, a.id, b.id]);
  expect(patched({ op: 'remove', path: `${path}/0` })).toEqual([b.id]);
  expect(patched({ op: 'remove', path, value: a.id }, { op: 'remove', path, value: b.id })).toEqual([]);
  expect(patched({ op: 'remove', path, value: c.id })).toEqual([a.id, b.id]);
});
