import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const user = { password: 'secret' };

test('a user shows the groups it is in (D-070)', () => {
  const world = new WorldForTests();
  const someone = world.create('users', { properties: { ...user, email: '', platform_home: 'root' } });
  expect(world.shown(someone).groups).toEqual([]);
  const group = world.create('groups', { name: 'staff', properties: { users: [someone.id] } });
  expect(world.shown(someone).groups).toMatchObject([{ id: group.id, name: 'staff' }]);
});

test.each([
  [{}, '/properties/password', 'is required'],
  [{ password: '' }, '/properties/password', 'must not be empty'],
  [{ ...user, email: 5 }, '/properties/email', 'must be a string'],
  [{ ...user, nickname: 'x' }, '/properties/nickname', 'is not a known member'],
  [{ ...user, platform_home: 'nowhere' }, '/properties/platform_home', 'names no organization'],
  [{ ...user, acme_home: 'nowhere' }, '/properties/acme_home', 'names no organization'],
  [{ ...user, acme_home: 5 }, '/properties/acme_home', 'must be a string'],
  [{ ...user, acme_home: 'root', platform_home: 'root' }, '/properties/acme_home', 'means the same as platform_home'],
])('%j is refused at its place (D-070, D-083)', (properties: JsonObject, pointer, message) => {
  const world = new WorldForTests();
  const refusal = refusalOf(() => world.create('users', { properties }));
  expect(refusal).toMatchObject({ status: 400, pointer });
  expect(refusal.message).toContain(message);
});

test("any brand's spelling of the home is kept under the key that was sent (D-083)", () => {
  const world = new WorldForTests();
  world.create('orgs', { name: 'child' });
  expect(world.create('users', { properties: { ...user, acme_home: 'child' } }).properties.acme_home).toBe('child');
});

test('an email address is unique unless it is empty (D-070)', () => {
  const world = new WorldForTests();
  const properties = { ...user, email: 'a@example.com' };
  const first = world.create('users', { properties });
  expect(refusalOf(() => world.create('users', { properties }))).toMatchObject({ status: 409 });
  expect(world.update(first, properties)).toBeDefined();
  for (const email of ['', '']) world.create('users', { properties: { ...user, email } });
});

test('a disabled account stays disabled when its record is written (D-179)', () => {
  const world = new WorldForTests();
  const someone = world.create('users', { properties: user });
  someone.properties.disabled = true;
  expect(world.update(someone, { password: 'other' }).properties).toEqual({ password: 'other', disabled: true });
});

test("root's user is not deleted (D-072)", () => {
  const world = new WorldForTests();
  expect(refusalOf(() => world.release(world.rootUser))).toMatchObject({ status: 409 });
  expect(() => world.release(world.create('users', { properties: user }))).not.toThrow();
});
