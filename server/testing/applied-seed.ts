import { beforeAll, beforeEach, expect } from 'vitest';
import type { AppliedSeed } from '../api/routes/seeds.ts';
import type { StoredResource, World } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { firstWorld, openSeeds, type TestSeeds } from './world-seeds.ts';

/** The members of a lambda except for its code. */
export const lambda = 'runtime: nodejs, code_type: inline, handler: run, provider: { id: default-lambda }';

type ApplyOptions = { dryRun?: boolean; prune?: boolean };

/**
 * Applies seeds to a world, and finds resources in it.
 *
 * @param world the world, called at each use, because each test has its own
 */
export function seedsOf(world: () => TestSeeds) {
  return {
    async apply(yaml: string, options: ApplyOptions = {}): Promise<AppliedSeed> {
      const text = /^format: 1$/m.test(yaml) ? yaml : `format: 1\n${yaml}`;
      const { seeds, act: actor } = world();
      return seeds.apply(actor.caller, { format: 'yaml', text }, { dryRun: false, prune: false, ...options });
    },
    /** The only resource with that name. */
    named(collection: TypeWord, name: string): StoredResource {
      const [found, another] = world().store.view.named(collection, name);
      if (!found || another) throw new Error(`${collection} '${name}': ${found ? 'several' : 'none'}`);
      return found;
    },
  };
}

/** Returns seeds with an empty world for each test of a file. */
export function seedsForEachTest() {
  const state = {} as { empty: World; world: TestSeeds }; // both exist before the first test
  beforeAll(async () => {
    state.empty = await firstWorld('empty');
  });
  beforeEach(async () => {
    state.world = await openSeeds(state.empty);
  });
  return Object.assign(
    state,
    seedsOf(() => state.world),
  );
}

/** The result for one resource in a response. */
export function changeOf({ changes }: AppliedSeed, path: string) {
  const found = changes.filter((change) => change.path === path);
  expect(found).toHaveLength(1);
  return found[0];
}

/** The changed resources. */
export const changed = ({ changes }: AppliedSeed) =>
  changes.filter(({ action }) => action !== 'unchanged').map(({ path, type, action }) => `${action} ${type} ${path}`);
