import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { typeOf, typeOfWord } from '../../model/registry.ts';
import { namedBy } from '../../model/rules/references.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { cause, record, rootId, smallWorld, testOptions } from '../../testing/small-world.ts';
import { openStore, type WorldStore } from './world-store.ts';

/** Types that the tests use; lambdas and containers refer to others alike. */
const COLLECTIONS: TypeWord[] = ['orgs', 'lambdas', 'containers'];
const naming = (ids: readonly string[]) => ({ secrets: ids.map((secret_id) => ({ secret_id })) });
const wordOf = (resource: StoredResource) => typeOf(resource).collection;

const names = (records: readonly StoredResource[]) => records.map(({ name }) => name);

test('lists are oldest first, those of one moment in the order they came', async () => {
  const store = await openStore(testOptions());
  const at = (second: number) => ({ created: { by: rootId, at: `2024-05-01T12:00:0${second}.000Z` } });
  await store.commit(
    { put: [record('apis', 'b', at(2)), record('apis', 'c', at(2)), record('apis', 'd', at(3))] },
    cause,
  );
  const oldest = record('apis', 'a', at(1));
  await store.commit({ put: [oldest] }, cause);
  expect(names(store.view.all('apis'))).toEqual(['a', 'b', 'c', 'd']);
  await store.commit({ put: [{ ...oldest, ...at(4) }] }, cause);
  expect(names(store.view.all('apis'))).toEqual(['b', 'c', 'd', 'a']);
  await store.commit({ put: [{ ...oldest, ...at(0) }] }, cause);
  expect(names(store.view.all('apis'))).toEqual(['a', 'b', 'c', 'd']);
});

test('a list that was given stays as it is', async () => {
  const store = await openStore(testOptions());
  const api = record('apis', 'one');
  await store.commit({ put: [api] }, cause);
  const before = store.view.all('apis');
  await store.commit({ put: [record('apis', 'two'), { ...api, description: 'changed' }] }, cause);
  expect(before).toEqual([api]);
});

test('what moves with its parent belongs to the new organization, to any depth (D-023)', async () => {
  const store = await openStore(testOptions());
  const [leftOrg, right] = [record('orgs', 'left'), record('orgs', 'right')];
  const workspace = record('workspaces', 'w', { parent: leftOrg.id });
  const environment = record('environments', 'e', { parent: workspace.id });
  const container = record('containers', 'c', { parent: environment.id });
  // A child may stand before its parent in a commit.
  await store.commit({ put: [container, environment, workspace, leftOrg, right] }, cause);
  expect(store.view.ownedBy(leftOrg.id, 'containers')).toEqual([container]);
  await store.commit({ put: [{ ...workspace, parent: right.id }] }, cause);
  expect(store.view.ownedBy(leftOrg.id, 'containers')).toEqual([]);
  expect(store.view.ownedBy(right.id, 'containers')).toEqual([container]);
  expect(store.view.ownedBy(right.id, 'environments')).toEqual([environment]);
  expect(store.view.ownedBy(rootId, 'orgs').map(({ id }) => id)).toEqual([rootId, leftOrg.id, right.id]);
});

test('an endpoint with the same properties below another API is found by its route there only', async () => {
  const store = await openStore(testOptions());
  const [api, otherApi] = [record('apis', 'a'), record('apis', 'b')];
  const endpoint = record('apiendpoints', 'e', { parent: api.id, properties: { resource: '/shop' } });
  await store.commit({ put: [api, otherApi, endpoint] }, cause);
  const below = ({ id }: StoredResource) => names(store.view.referrers(`route ${id} /shop`, 'apiendpoints'));
  expect([below(api), below(otherApi)]).toEqual([['e'], []]);
  await store.commit({ put: [{ ...endpoint, parent: otherApi.id }] }, cause);
  expect([below(api), below(otherApi)]).toEqual([[], ['e']]);
});

test('an unknown id, parent, word or name gives nothing', async () => {
  const { view } = await openStore(testOptions());
  const { id } = record('apis', 'not stored');
  expect(view.find(id)).toBeUndefined();
  for (const list of [
    view.children(id),
    view.ownedBy(id, 'apis'),
    view.all('apis'),
    view.named('apis', 'x'),
    view.referrers(id),
  ]) {
    expect(list).toEqual([]);
  }
});

/** D-023, looked up the slow way. */
function ownerOf(resources: WorldStore['world']['resources'], resource: StoredResource): string {
  let at = resource.parent === null ? resource : resources.get(resource.parent);
  while (at && wordOf(at) !== 'orgs') at = at.parent === null ? undefined : resources.get(at.parent);
  return at?.id ?? '';
}

/** Every answer of the view, looked up the slow way. */
function expectTrueView({ view, world }: WorldStore): void {
  const all = [...world.resources.values()].sort((a, b) =>
    a.created.at < b.created.at ? -1 : a.created.at > b.created.at ? 1 : 0,
  );
  const those = (test: (resource: StoredResource) => boolean) =>
    all
      .filter(test)
      .map(({ id }) => id)
      .sort();
  const ids = (records: readonly StoredResource[]) => records.map(({ id }) => id).sort();
  for (const resource of all) {
    expect(view.find(resource.id)).toBe(resource);
    expect(ids(view.children(resource.id))).toEqual(those(({ parent }) => parent === resource.id));
    expect(ids(view.referrers(resource.id))).toEqual(those((other) => namedBy(other).includes(resource.id)));
    expect(ids(view.named(wordOf(resource), resource.name))).toEqual(
      those(({ type, name }) => type === resource.type && name === resource.name),
    );
    for (const collection of COLLECTIONS) {
      expect(ids(view.referrers(resource.id, collection))).toEqual(
        those((other) => wordOf(other) === collection && namedBy(other).includes(resource.id)),
      );
      expect(ids(view.referrersOutside(rootId, resource.id, collection))).toEqual(
        ids(view.referrers(resource.id, collection).filter((other) => ownerOf(world.resources, other) !== rootId)),
      );
      expect(ids(view.children(resource.id, collection))).toEqual(
        those((other) => other.parent === resource.id && wordOf(other) === collection),
      );
      expect(ids(view.named(collection, 'a', resource.id))).toEqual(
        those((other) => other.parent === resource.id && wordOf(other) === collection && other.name === 'a'),
      );
      expect(ids(view.ownedBy(resource.id, collection))).toEqual(
        those((other) => wordOf(other) === collection && ownerOf(world.resources, other) === resource.id),
      );
    }
  }
  for (const collection of COLLECTIONS) {
    const listed = view.all(collection);
    expect(ids(listed)).toEqual(those((other) => wordOf(other) === collection));
    const ages = listed.map(({ created }) => created.at);
    expect(ages).toEqual(ages.toSorted());
  }
}

test('after any commits, every index equals a scan of all resources', async () => {
  const step = fc.record({
    remove: fc.boolean(),
    target: fc.nat(),
    parent: fc.nat(),
    uses: fc.array(fc.nat(), { maxLength: 3 }),
    word: fc.constantFrom(...COLLECTIONS),
    name: fc.constantFrom('a', 'b', 'c'),
    second: fc.integer({ min: 0, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const store = await openStore(testOptions());
      for (const { remove, target, parent, uses, word: collection, name, second } of steps) {
        const present = [...store.world.resources.values()];
        const pick = (n: number) => present[n % present.length]?.id ?? rootId;
        const id = pick(target);
        if (remove) {
          if (store.view.children(id).length === 0 && id !== rootId) await store.commit({ remove: [id] }, cause);
          continue;
        }
        const created = { by: rootId, at: `2024-05-01T12:00:0${second}.000Z` };
        const properties = naming(uses.map(pick));
        // Every other step changes what is there; a parent is always older in the tree, so that there is no circle.
        const isNew = target % 2 === 0 || id === rootId;
        const placed = isNew ? { parent: pick(parent) } : { id, parent: store.view.find(id)?.parent ?? rootId };
        await store.commit({ put: [record(collection, name, { ...placed, created, properties })] }, cause);
      }
      expectTrueView(store);
      const createWorld = () => ({
        format: 1 as const,
        id: store.world.id,
        resources: Object.fromEntries(store.world.resources),
      });
      expectTrueView(await openStore(testOptions({ createWorld })));
      // Changes before a query, or after a query for one type, are included as well.
      for (const firstQuery of [undefined, ...COLLECTIONS]) {
        const again = await openStore(testOptions({ createWorld }));
        if (firstQuery) again.view.referrers(rootId, firstQuery);
        const [first = rootId, last = rootId] = [...again.world.resources.keys()].slice(-2);
        const changed = again.view.find(first);
        if (changed) await again.commit({ put: [{ ...changed, properties: naming([rootId, last]) }] }, cause);
        if (last !== rootId && again.view.children(last).length === 0) await again.commit({ remove: [last] }, cause);
        expectTrueView(again);
      }
    }),
    { numRuns: 40 },
  );
});

test.each(['before', 'after'])('a part of a list that was first queried %s a change is up to date', async (order) => {
  const records = Array.from({ length: 3 }, (_, index) => record('apis', `a${index}`));
  const [first = rootId, second = rootId, third = rootId] = records.map(({ id }) => id);
  const store = await openStore(
    testOptions({
      createWorld: () => {
        const world = smallWorld();
        const added = Object.fromEntries(records.map((api) => [api.id, api]));
        return { ...world, resources: { ...world.resources, ...added } };
      },
    }),
  );
  const { view } = store;
  if (order === 'before') {
    expect(names(view.named('apis', 'a0', rootId))).toEqual(['a0']);
    expect(names(view.children(rootId, 'apis'))).toEqual(['a0', 'a1', 'a2']);
    expect(names(view.ownedBy(rootId, 'apis'))).toEqual(['a0', 'a1', 'a2']);
  }
  const [renamed, turned] = [view.find(first), view.find(third)];
  if (!renamed || !turned) throw new Error('the world lacks its own records');
  const put = [
    { ...renamed, name: 'renamed' },
    { ...turned, type: typeOfWord('environments').name },
    record('apis', 'new'),
  ];
  await store.commit({ put, remove: [second] }, cause);
  expect(names(view.named('apis', 'renamed', rootId))).toEqual(['renamed']);
  expect(view.named('apis', 'a0', rootId)).toEqual([]);
  expect(view.named('apis', 'a1', rootId)).toEqual([]);
  expect(names(view.named('environments', 'a2', rootId))).toEqual(['a2']);
  expect(names(view.children(rootId, 'apis'))).toEqual(['renamed', 'new']);
  expect(names(view.ownedBy(rootId, 'apis'))).toEqual(['renamed', 'new']);
  expect(names(view.ownedBy(rootId, 'environments'))).toEqual(['a2']);
});
