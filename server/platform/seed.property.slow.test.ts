import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AppliedSeed } from '../api/routes/seeds.ts';
import type { World } from '../model/record.ts';
import { typeOf, typeWords } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { applyRequests, requests } from '../testing/arbitrary-requests.ts';
import { exported, firstWorld, openSeeds } from '../testing/world-seeds.ts';

let empty: World;
beforeAll(async () => {
  empty = await firstWorld('empty');
});

it('an export applied to the same world changes nothing, and exports the same again', async () => {
  const coveredCollections = new Set<TypeWord>();
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const { service, act: actor, seeds, store } = await openSeeds(empty);
      await applyRequests(service, actor, all);
      for (const record of store.world.resources.values()) coveredCollections.add(typeOf(record).collection);
      const { seq } = store;
      const apply = (format: 'yaml' | 'json', text: string, prune: boolean) =>
        seeds.apply(actor.caller, { format, text }, { dryRun: false, prune });

      const yaml = await exported(seeds, '/', 'yaml');
      const json = await exported(seeds, '/', 'json');
      expect(parse(yaml, { stringKeys: true })).toEqual(JSON.parse(json));
      expect(changedIn(await apply('yaml', yaml, true))).toEqual([]);
      expect(changedIn(await apply('json', json, true))).toEqual([]);
      for (const { name } of store.view.children(store.view.root.id, 'orgs')) {
        expect(changedIn(await apply('yaml', await exported(seeds, `/${name}`, 'yaml'), true))).toEqual([]);
      }
      expect(store.seq).toBe(seq);
      expect(await exported(seeds, '/', 'yaml')).toBe(yaml);
    }),
    { numRuns: 20 },
  );
  expect([...coveredCollections].sort()).toEqual([...typeWords].sort());
});

const changedIn = ({ changes }: AppliedSeed) => changes.filter(({ action }) => action !== 'unchanged');
