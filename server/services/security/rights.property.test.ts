import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredResource, Uuid } from '../../model/record.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { TestWorld } from '../../testing/test-world.ts';
import { callerOf } from './authenticator.ts';
import { createAuthorizer, findEntitlement, grantsAfter } from './entitlements.ts';

/** A line of resources from the root organization down to a container. */
const LINE: readonly TypeWord[] = ['orgs', 'orgs', 'workspaces', 'environments', 'containers'];
const ACTION = 'container.view';

/** Identities by number: 0-2 are users, 3 and 4 groups; user 0 is in both, user 1 in the second. */
const user = fc.integer({ min: 0, max: 2 });
const identity = fc.integer({ min: 0, max: 4 });
const identities = fc.uniqueArray(identity, { maxLength: 3 });
const level = fc.record({ owner: fc.option(user), add: identities, remove: identities });
const line = fc.array(level, { minLength: LINE.length, maxLength: LINE.length });

type Level = { owner: number | null; add: number[]; remove: number[] };

function build(levels: readonly Level[]) {
  const world = new TestWorld();
  const users = ['ada', 'bob', 'eve'].map((name) => world.add('users', world.root, { name }));
  const [ada, bob] = users.map(({ id }) => id);
  const groups = [[ada], [ada, bob]].map((members) =>
    world.add('groups', world.root, { properties: { users: members.flatMap((id) => id ?? []) } }),
  );
  const all = [...users, ...groups].map(({ id }) => id);
  const pick = (numbers: readonly number[]): Uuid[] => numbers.flatMap((number) => all[number] ?? []);
  let above = world.root;
  const nodes = levels.map(({ owner, add, remove }, depth): StoredResource => {
    const grants = { [ACTION]: { add: pick(add), remove: pick(remove) } };
    if (depth === 0) world.change(world.root.id, { grants });
    else {
      const [ownerId = world.root.owner] = owner === null ? [] : pick([owner]);
      above = world.add(LINE[depth] ?? 'containers', above, { owner: ownerId, grants });
    }
    return above;
  });
  const read = (node: StoredResource): Uuid[] => {
    const present = world.find(node.id) ?? node;
    return findEntitlement(world, present, ACTION)?.identities ?? [];
  };
  return { world, users, pick, nodes, read };
}

test('exactly root, the creator and the identities of the entitlement have the permission', () => {
  fc.assert(
    fc.property(line, (levels) => {
      const { world, users, nodes, read } = build(levels);
      const authorizer = createAuthorizer(world);
      for (const node of nodes) {
        const named = read(node);
        for (const user of [...users, world.rootUser]) {
          const caller = callerOf(world, user, 'bearer');
          const expected =
            user.id === world.rootUser.id ||
            node.owner === user.id ||
            [user.id, ...caller.groupIds].some((id) => named.includes(id));
          expect(authorizer.can(caller, ACTION, node.id)).toBe(expected);
        }
      }
    }),
  );
});

test('law: an identity added at a node is entitled at all below, unless it is removed on the way', () => {
  fc.assert(
    fc.property(line, identity, fc.nat(LINE.length - 1), (levels, number, depth) => {
      const open = levels.map((level, at) => ({
        ...level,
        add: at === depth ? [number] : level.add,
        remove: level.remove.filter((removed) => at < depth || removed !== number),
      }));
      const { pick, nodes, read } = build(open);
      const [id] = pick([number]);
      for (const node of nodes.slice(depth)) expect(read(node)).toContain(id);
    }),
  );
});

test('law: an identity removed at a node is not entitled anywhere below, unless it is added or creates something on the way', () => {
  fc.assert(
    fc.property(line, identity, fc.nat(LINE.length - 1), (levels, number, depth) => {
      const shut = levels.map((level, at) => ({
        owner: at > depth && level.owner === number ? null : level.owner,
        add: level.add.filter((added) => at < depth || added !== number),
        remove: at === depth ? [number] : level.remove,
      }));
      const { pick, nodes, read } = build(shut);
      const [id] = pick([number]);
      for (const node of nodes.slice(depth)) expect(read(node)).not.toContain(id);
    }),
  );
});

test('law: the identities that are set are read back, and setting them again changes nothing', () => {
  fc.assert(
    fc.property(line, identities, fc.nat(LINE.length - 1), (levels, numbers, depth) => {
      const { world, pick, nodes, read } = build(levels);
      const node = nodes[depth] ?? world.root;
      const expectedIds = pick(numbers);
      const set = (ids: Uuid[]) => {
        const { grants: _, ...plain } = world.find(node.id) ?? node;
        const grants = grantsAfter(world, plain, ACTION, { identities: ids });
        world.change(node.id, { grants: grants ?? {} });
        return grants;
      };
      const stored = set(expectedIds);
      expect([...read(node)].sort()).toEqual([...expectedIds].sort());
      expect(set(read(node))).toEqual(stored);
    }),
  );
});
