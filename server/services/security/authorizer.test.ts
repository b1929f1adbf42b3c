import { beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../model/caller.ts';
import type { StoredResource } from '../../model/record.ts';
import { TestWorld } from '../../testing/test-world.ts';
import { callerOf } from './authenticator.ts';
import { createAuthorizer } from './entitlements.ts';

let world: TestWorld;
let workspace: StoredResource;
let environment: StoredResource;
let ada: StoredResource;

beforeEach(() => {
  world = new TestWorld();
  ada = world.add('users', world.root, { name: 'ada' });
  workspace = world.add('workspaces', world.root);
  environment = world.add('environments', workspace);
});

function can(user: StoredResource, action: string, resource: StoredResource): boolean {
  return createAuthorizer(world).can(callerOf(world, user, 'basic'), action, resource.id);
}

test('root may do everything, even where it was removed; a user without grants nothing', () => {
  world.change(environment.id, { owner: ada.id, grants: { 'environment.view': { remove: [world.rootUser.id] } } });
  expect(can(world.rootUser, 'environment.view', environment)).toBe(true);
  expect(can(ada, 'workspace.view', workspace)).toBe(false);
  expect(can(ada, 'user.view', world.rootUser)).toBe(false);
  // D-117
  expect(can(ada, 'user.view', ada)).toBe(true);
});

test('the creator has all permissions on their resources, even where they were removed', () => {
  const ownEnvironment = world.add('environments', workspace, {
    owner: ada.id,
    grants: { 'environment.delete': { remove: [ada.id] } },
  });
  expect(can(ada, 'environment.delete', ownEnvironment)).toBe(true);
  expect(can(ada, 'container.create', ownEnvironment)).toBe(true);
  expect(can(ada, 'environment.create', workspace)).toBe(false);
});

test('a right reaches a user through a group, until the user leaves it', () => {
  const group = world.add('groups', world.root, { properties: { users: [ada.id] } });
  world.change(workspace.id, { grants: { 'environment.view': { add: [group.id] } } });
  expect(can(ada, 'environment.view', environment)).toBe(true);
  expect(can(ada, 'environment.update', environment)).toBe(false);
  world.change(group.id, { properties: { users: [] } });
  expect(can(ada, 'environment.view', environment)).toBe(false);
});

test('a group is not joined by being granted a right on it', () => {
  const group = world.add('groups', world.root, { grants: { 'group.view': { add: [ada.id] } } });
  expect(callerOf(world, ada, 'basic').groupIds).not.toContain(group.id);
});

test('where a resource has no entitlement for an action, the nearest one above that has it decides', () => {
  world.change(workspace.id, { grants: { 'workspace.view': { add: [ada.id] } } });
  expect(can(ada, 'workspace.view', environment)).toBe(true);
  expect(can(ada, 'org.view', environment)).toBe(false);
  world.change(world.root.id, { grants: { 'org.view': { add: [ada.id] } } });
  expect(can(ada, 'org.view', environment)).toBe(true);
});

test('only root may do unknown actions, or any action on what does not exist', () => {
  const caller: Caller = callerOf(world, ada, 'basic');
  expect(can(ada, 'environment.explode', environment)).toBe(false);
  expect(createAuthorizer(world).can(caller, 'environment.view', 'f0000000-0000-4000-8000-00000000000f')).toBe(false);
});
