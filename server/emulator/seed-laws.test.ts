import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { firstWorld, openSeeds } from '../../e2e/seeds-for-tests.ts';
import type { AppliedSeed } from '../contract/seeds.ts';
import type { World } from '../model/record.ts';
import { typeOf, typeWords } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { fulfil, requests } from './requests-for-tests.ts';

let empty: World;
beforeAll(async () => {
  empty = await firstWorld('empty');
});

it('what was exported changes nothing when it is applied to the same world, and comes out the same again', async () => {
  const seen = new Set<TypeWord>();
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const { service, act, seeds, store } = await openSeeds(empty);
      await fulfil(service, act, all);
      for (const record of store.world.resources.values()) seen.add(typeOf(record).word);
      const { seq } = store;
      const apply = (format: 'yaml' | 'json', text: string, prune: boolean) =>
        seeds.apply(act.caller, { format, text }, { dryRun: false, prune });

      const yaml = seeds.export('/', 'yaml');
      const json = seeds.export('/', 'json');
      expect(parse(yaml, { stringKeys: true })).toEqual(JSON.parse(json));
      expect(changedIn(await apply('yaml', yaml, true))).toEqual([]);
      expect(changedIn(await apply('json', json, true))).toEqual([]);
      for (const { name } of store.view.children(store.view.root.id, 'orgs')) {
        expect(changedIn(await apply('yaml', seeds.export(`/${name}`, 'yaml'), true))).toEqual([]);
      }
      expect(store.seq).toBe(seq);
      expect(seeds.export('/', 'yaml')).toBe(yaml);
    }),
    { numRuns: 20 },
  );
  expect([...seen].sort()).toEqual([...typeWords].sort());
}, 60_000);

const changedIn = ({ changes }: AppliedSeed) => changes.filter(({ action }) => action !== 'unchanged');
