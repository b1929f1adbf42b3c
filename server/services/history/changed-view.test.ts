import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { typeOfWord } from '../../model/registry.ts';
import { openStore } from '../../storage/world/world-store.ts';
import { ChangedView } from './history-service.ts';

const idOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const at = '2024-05-01T12:00:00.000Z';
const rootId = idOf(0);
const collections = ['orgs', 'lambdas', 'containers'] as const;
const types = collections.map((collection) => typeOfWord(collection).name);
const names = ['a', 'b'];

const record = (n: number, type: string, name: string, parent: number, uses: number): StoredResource => {
  const provenance = { created: { by: rootId, at }, modified: { action: 'create', by: rootId, at } } as const;
  const position = { id: idOf(n), parent: n === 0 ? null : idOf(parent) };
  return {
    ...position,
    type,
    name,
    state: 'Active',
    owner: rootId,
    ...provenance,
    properties: { secrets: [{ secret_id: idOf(uses) }] },
  };
};
/** Each is below one of a lower number, so that there are no circles. */
const records = fc
  .tuple(
    ...Array.from({ length: 6 }, (_, at) => at + 1).map((n) => {
      const some = fc.tuple(fc.constantFrom(...types), fc.constantFrom(...names), fc.nat(n - 1), fc.nat(6));
      return fc.option(
        some.map(([type, name, parent, uses]) => record(n, type, name, parent, uses)),
        { nil: undefined, freq: 3 },
      );
    }),
  )
  .map((some) => some.flatMap((record) => record ?? []));

/** Every answer of a view, in an order of its own. */
function answersOf(view: WorldView): unknown {
  const ids = (some: readonly StoredResource[]) => some.map(({ id }) => id).sort();
  const all = Array.from({ length: 7 }, (_, n) => idOf(n));
  return {
    root: view.root,
    found: all.map((id) => view.find(id)),
    referrers: all.map((id) => ids(view.referrers(id))),
    children: all.map((id) => [
      ids(view.children(id)),
      collections.map((collection) => ids(view.children(id, collection))),
    ]),
    all: collections.map((collection) => ids(view.all(collection))),
    named: collections.map((collection) =>
      names.map((name) => [ids(view.named(collection, name)), all.map((id) => ids(view.named(collection, name, id)))]),
    ),
  };
}

it('a changed view answers as the world does once the changes are made', async () => {
  await fc.assert(
    fc.asyncProperty(records, records, async (before, after) => {
      const root = record(0, 'Resource::Organization', 'root', 0, 0);
      const resources = Object.fromEntries([root, ...before].map((record) => [record.id, record]));
      const store = await openStore({
        medium: { kind: 'memory' },
        createWorld: () => ({ format: 1, id: rootId, resources }),
        nowMs: () => 0,
        onWarning: () => undefined,
      });
      const remove = before.map(({ id }) => id).filter((id) => !after.some((record) => record.id === id));
      const expected = answersOf(new ChangedView(store.view, { put: after, remove }));
      await store.commit({ put: after, remove }, { actor: null, via: 'startup' });
      expect(expected).toEqual(answersOf(store.view));
      await store.close();
    }),
  );
});
