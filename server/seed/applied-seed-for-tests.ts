import { beforeAll, beforeEach, expect } from 'vitest';
import { firstWorld, openSeeds, type SeedsForTests } from '../../e2e/seeds-for-tests.ts';
import type { AppliedSeed } from '../contract/seeds.ts';
import type { StoredResource, World } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';

/** The members of a lambda but its code. */
export const lambda = 'runtime: nodejs, code_type: inline, handler: run, provider: { id: default-lambda }';

type Asked = { dryRun?: boolean; prune?: boolean };

/**
 * For tests: applies seeds to a world, and finds what is in it.
 *
 * @param world the world, asked for at each use, as each test has its own
 */
export function seedsOf(world: () => SeedsForTests) {
  return {
    async apply(yaml: string, asked: Asked = {}): Promise<AppliedSeed> {
      const text = /^format: 1$/m.test(yaml) ? yaml : `format: 1\n${yaml}`;
      const { seeds, act } = world();
      return seeds.apply(act.caller, { format: 'yaml', text }, { dryRun: false, prune: false, ...asked });
    },
    /** The resource of that name, of which there is one. */
    named(word: TypeWord, name: string): StoredResource {
      const [found, another] = world().store.view.named(word, name);
      if (!found || another) throw new Error(`${word} '${name}': ${found ? 'several' : 'none'}`);
      return found;
    },
  };
}

/** The same, with an empty world for each test of a file. */
export function seedsForEachTest() {
  const here = {} as { empty: World; world: SeedsForTests }; // both are there before the first test
  beforeAll(async () => {
    here.empty = await firstWorld('empty');
  });
  beforeEach(async () => {
    here.world = await openSeeds(here.empty);
  });
  return Object.assign(
    here,
    seedsOf(() => here.world),
  );
}

/** What an answer says of one resource. */
export function changeOf({ changes }: AppliedSeed, path: string) {
  const found = changes.filter((change) => change.path === path);
  expect(found).toHaveLength(1);
  return found[0];
}

/** What was not left alone. */
export const changed = ({ changes }: AppliedSeed) =>
  changes.filter(({ action }) => action !== 'unchanged').map(({ path, type, action }) => `${action} ${type} ${path}`);
