import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Commit } from '../model/commit.ts';
import type { World } from '../model/record.ts';
import { packageFile } from '../system/package-file.ts';
import { changed, seedsForEachTest } from '../testing/applied-seed.ts';
import { exported, firstWorld, openSeeds } from '../testing/world-seeds.ts';
import { readSeedFileForApply } from './seed-files.ts';

const DEMO = packageFile('fixtures/worlds/demo.yaml');

const fixture = seedsForEachTest();
const { apply, named } = fixture;
let demo: World;
beforeAll(async () => {
  demo = await firstWorld('demo');
});

describe('the demo seed', () => {
  const readDemoSeed = async () => JSON.stringify((await readSeedFileForApply(DEMO)).document);
  const plain = { dryRun: false, prune: false };

  it('changes nothing in the demo world', async () => {
    fixture.world = await openSeeds(demo);
    const applied = await fixture.world.seeds.apply(
      fixture.world.act.caller,
      { format: 'json', text: await readDemoSeed() },
      { ...plain, prune: true },
    );
    expect(changed(applied)).toEqual([]);
    expect(applied.summary.unchanged).toBe(26);
    expect(applied.commit).toBeUndefined();
    expect(fixture.world.store.seq).toBe(0);
  });

  it('makes the demo world of an empty one, in one commit that can be undone', async () => {
    const before = new Map(fixture.world.store.world.resources);
    const commits: Commit[] = [];
    fixture.world.store.onCommit((commit) => commits.push(commit));
    const apply = async () =>
      fixture.world.seeds.apply(fixture.world.act.caller, { format: 'json', text: await readDemoSeed() }, plain);

    expect(await apply()).toMatchObject({ dryRun: false, commit: 1, summary: { update: 1, delete: 0, unchanged: 0 } });
    const original = await openSeeds(demo);
    expect(await exported(fixture.world.seeds, '/', 'yaml')).toBe(await exported(original.seeds, '/', 'yaml'));
    expect((await apply()).commit).toBeUndefined();

    expect(commits).toMatchObject([{ seq: 1, cause: { actor: { name: 'root' }, via: 'seed', action: 'world.apply' } }]);
    expect((await fixture.world.store.history.worldAt({ seq: 0 })).resources).toEqual(before);
  });

  it('exported from one world makes the same world elsewhere, where users have random passwords', async () => {
    const original = await openSeeds(demo);
    const text = await exported(original.seeds, '/', 'yaml');
    await apply(text);
    const { password } = named('users', 'ada.byrne').properties;
    const drawn = await fixture.world.randomPasswords.inForce('ada.byrne', password);
    expect(drawn).toHaveLength(24);
    expect(await exported(fixture.world.seeds, '/', 'yaml')).toBe(text);
    const code = await readFile(packageFile('fixtures/lambdas/order-status.mjs'), 'utf8');
    expect(
      parse(text).orgs.demo.workspaces.website.environments.development.lambdas['order-status'].properties.code,
    ).toBe(code);
  });
});
