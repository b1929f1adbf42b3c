import { beforeEach, expect, test } from 'vitest';
import type { Grant, StoredResource, Uuid } from '../../model/record.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { TestWorld } from '../../testing/test-world.ts';
import { EntitlementFinder, entitlementsOf, findEntitlement, grantsAfter, grantsWithout } from './entitlements.ts';

const VIEW = 'environment.view';
/** Could be an entitlement's id, but is not. */
const NOBODYS = 'f0000000-0000-5000-8000-00000000000f';

let world: TestWorld;
let workspace: StoredResource;
let environment: StoredResource;
let ada: StoredResource;
let bob: StoredResource;
let eve: StoredResource;

beforeEach(() => {
  world = new TestWorld();
  ada = world.add('users', world.root, { name: 'ada' });
  bob = world.add('users', world.root, { name: 'bob' });
  eve = world.add('users', world.root, { name: 'eve' });
  workspace = world.add('workspaces', world.root, { owner: ada.id });
  environment = world.add('environments', workspace, { owner: bob.id });
});

function grant(resource: StoredResource, viewGrant: Grant): void {
  world.change(resource.id, { grants: { [VIEW]: viewGrant } });
}

function identities(resource: StoredResource): Uuid[] | undefined {
  return findEntitlement(world, current(resource), VIEW)?.identities;
}

function current(resource: StoredResource): StoredResource {
  return world.find(resource.id) ?? resource;
}

test('a resource has one entitlement per action, with an id and a name of its own', () => {
  const all = entitlementsOf(world, environment);
  expect(all.map((entitlement) => entitlement.action)).toEqual([...actionsOf(environment)]);
  expect(new Set(all.map((entitlement) => entitlement.id)).size).toBe(all.length);
  expect(all.every((entitlement) => entitlement.name === `${environment.id}.${entitlement.action}`)).toBe(true);
  expect(entitlementsOf(world, environment)).toEqual(all);
  expect(findEntitlement(world, environment, 'org.view')).toBeUndefined();
});

test('the creator comes first, then whom the parent names; additions and removals hold for all below', () => {
  expect(identities(environment)).toEqual([bob.id, ada.id, world.rootUser.id]);
  grant(world.root, { add: [eve.id] });
  expect(identities(environment)).toEqual([bob.id, ada.id, world.rootUser.id, eve.id]);
  grant(workspace, { remove: [eve.id, ada.id] });
  expect(identities(workspace)).toEqual([world.rootUser.id]);
  expect(identities(environment)).toEqual([bob.id, world.rootUser.id]);
  grant(environment, { add: [eve.id] });
  expect(identities(environment)).toEqual([bob.id, world.rootUser.id, eve.id]);
});

test('a creator who does not exist any more is not named', () => {
  world.remove(bob.id);
  expect(identities(environment)).toEqual([ada.id, world.rootUser.id]);
});

test('a client-chosen id that is of no UUID version has entitlements like any other', () => {
  const odd = world.add('workspaces', world.root, { id: '00000000-0000-0000-0000-0000000000ff' });
  expect(entitlementsOf(world, odd)[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
});

test('setting identities stores the difference from the inherited ones, and nothing without a difference', () => {
  const inherited = identities(environment) ?? [];
  expect(grantsAfter(world, environment, VIEW, { identities: inherited })).toBeUndefined();
  expect(grantsAfter(world, environment, VIEW, { identities: [bob.id, eve.id, eve.id], value: 7 })).toEqual({
    [VIEW]: { add: [eve.id], remove: [ada.id, world.rootUser.id], value: 7 },
  });
});

test('setting one entitlement leaves the others alone', () => {
  world.change(environment.id, { grants: { 'environment.update': { add: [eve.id] }, [VIEW]: { add: [eve.id] } } });
  const same = identities(workspace) ?? [];
  expect(grantsAfter(world, current(environment), VIEW, { identities: [bob.id, ...same] })).toEqual({
    'environment.update': { add: [eve.id] },
  });
});

test('the former permissions of a deleted creator do not reject a client that sends back what it read', () => {
  world.remove(bob.id);
  expect(grantsAfter(world, environment, VIEW, { identities: identities(environment) ?? [] })).toBeUndefined();
});

test('a deleted identity is taken out of the grants', () => {
  const grants = { [VIEW]: { add: [eve.id, ada.id], remove: [bob.id] }, 'environment.update': { remove: [eve.id] } };
  world.change(environment.id, { grants });
  expect(grantsWithout(current(environment), eve.id)).toEqual({ [VIEW]: { add: [ada.id], remove: [bob.id] } });
  world.change(environment.id, { grants: { [VIEW]: { add: [eve.id] } } });
  expect(grantsWithout(current(environment), eve.id)).toBeUndefined();
});

test('an entitlement is found again by its id, in whichever organization its resource is', () => {
  const other = world.add('orgs', world.root, { name: 'other' });
  const remote = world.add('workspaces', other);
  const finder = new EntitlementFinder(world);
  for (const resource of [world.root, workspace, environment, remote, ada]) {
    for (const { id, action } of entitlementsOf(world, resource)) {
      expect(finder.find(id, world.root)).toMatchObject({ id, action, resource: { id: resource.id } });
    }
  }
  expect(finder.find(ada.id, other)).toBeUndefined();
  expect(finder.find(NOBODYS, other)).toBeUndefined();
});

test('an entitlement of a resource made after a vain search is found, of a deleted one not', () => {
  const finder = new EntitlementFinder(world);
  expect(finder.find(NOBODYS, world.root)).toBeUndefined();
  const late = world.add('workspaces', world.root);
  const [first] = entitlementsOf(world, late);
  expect(finder.find(first?.id ?? '', world.root)?.resource).toBe(late);
  world.remove(late.id);
  expect(finder.find(first?.id ?? '', world.root)).toBeUndefined();
});

test('an entitlement that was shown is found without a search', () => {
  const finder = new EntitlementFinder(world);
  finder.remember(environment);
  world.all = () => {
    throw new Error('searched');
  };
  world.ownedBy = world.all;
  const [first] = entitlementsOf(world, environment);
  expect(finder.find(first?.id ?? '', world.root)?.resource).toBe(environment);
});
