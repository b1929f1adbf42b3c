import { beforeEach, expect, test } from 'vitest';
import type { Caller } from '../model/caller.ts';
import type { StoredResource } from '../model/record.ts';
import { callerOf } from './accounts.ts';
import { createJudge } from './judge.ts';
import { TestWorld } from './world-for-tests.ts';

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

function may(who: StoredResource, action: string, what: StoredResource): boolean {
  return createJudge(world).may(callerOf(world, who, 'basic'), action, what.id);
}

test('root may do everything, even where it was removed; a stranger nothing', () => {
  world.change(environment.id, { owner: ada.id, grants: { 'environment.view': { remove: [world.rootUser.id] } } });
  expect(may(world.rootUser, 'environment.view', environment)).toBe(true);
  expect(may(ada, 'workspace.view', workspace)).toBe(false);
  expect(may(ada, 'user.view', world.rootUser)).toBe(false);
  // D-117
  expect(may(ada, 'user.view', ada)).toBe(true);
});

test('the creator may do everything to what is theirs, even where they were removed', () => {
  const own = world.add('environments', workspace, {
    owner: ada.id,
    grants: { 'environment.delete': { remove: [ada.id] } },
  });
  expect(may(ada, 'environment.delete', own)).toBe(true);
  expect(may(ada, 'container.create', own)).toBe(true);
  expect(may(ada, 'environment.create', workspace)).toBe(false);
});

test('a right reaches a user through a group, until the user leaves it', () => {
  const group = world.add('groups', world.root, { properties: { users: [ada.id] } });
  world.change(workspace.id, { grants: { 'environment.view': { add: [group.id] } } });
  expect(may(ada, 'environment.view', environment)).toBe(true);
  expect(may(ada, 'environment.update', environment)).toBe(false);
  world.change(group.id, { properties: { users: [] } });
  expect(may(ada, 'environment.view', environment)).toBe(false);
});

test('a group is not joined by being granted a right on it', () => {
  const group = world.add('groups', world.root, { grants: { 'group.view': { add: [ada.id] } } });
  expect(callerOf(world, ada, 'basic').groupIds).not.toContain(group.id);
});

test('where a resource has no entitlement for an action, the nearest one above that has it decides', () => {
  world.change(workspace.id, { grants: { 'workspace.view': { add: [ada.id] } } });
  expect(may(ada, 'workspace.view', environment)).toBe(true);
  expect(may(ada, 'org.view', environment)).toBe(false);
  world.change(world.root.id, { grants: { 'org.view': { add: [ada.id] } } });
  expect(may(ada, 'org.view', environment)).toBe(true);
});

test('nobody but root may do what nobody knows, or anything to what does not exist', () => {
  const caller: Caller = callerOf(world, ada, 'basic');
  expect(may(ada, 'environment.explode', environment)).toBe(false);
  expect(createJudge(world).may(caller, 'environment.view', 'f0000000-0000-4000-8000-00000000000f')).toBe(false);
});
