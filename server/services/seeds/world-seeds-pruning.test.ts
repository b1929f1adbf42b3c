import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { changed, changeOf, lambda, seedsForEachTest } from '../../testing/applied-seed.ts';
import { exported } from '../../testing/world-seeds.ts';

const fixture = seedsForEachTest();
const { apply, named } = fixture;

describe('pruning', () => {
  const full = `orgs: { acme: { groups: { a: {}, b: {} }, workspaces: { w: { lambdas: { l: { properties: { ${lambda}, code: x } } } } } }, other: { groups: { c: {} } } }`;

  it('deletes resources that the seed omits below its organizations, and only on request', async () => {
    await apply(full);
    const part = 'orgs: { acme: { groups: { a: {} } } }';
    expect(changed(await apply(part))).toEqual([]);
    const plan = await apply(part, { prune: true, dryRun: true });
    expect(new Set(changed(plan))).toEqual(
      new Set(['delete groups /acme/b', 'delete workspaces /acme/w', 'delete lambdas /acme/w/l']),
    );
    expect(changeOf(plan, '/acme/w/l')).toMatchObject({
      id: named('lambdas', 'l').id,
      patch: [{ op: 'remove', path: '' }],
    });
    const done = await apply(part, { prune: true });
    expect(done).toMatchObject({ summary: { delete: 3 }, commit: 2 });
    expect(fixture.world.store.view.named('workspaces', 'w')).toEqual([]);
    expect(named('groups', 'c').name).toBe('c');
    expect(named('providers', 'default-lambda').name).toBe('default-lambda');
  });

  it('reaches no further than the scope of the document', async () => {
    await apply('orgs: { acme: { groups: { a: {} }, orgs: { sub: { groups: { b: {} } } } } }');
    const sub = await exported(fixture.world.seeds, '/acme/sub/', 'yaml');
    expect(parse(sub)).toMatchObject({ scope: '/acme/sub', orgs: { acme: { orgs: { sub: { groups: { b: {} } } } } } });
    expect(changed(await apply(sub, { prune: true }))).toEqual([]);
    const less = 'scope: /acme/sub\norgs: { acme: { orgs: { sub: {} } } }';
    expect(changed(await apply(less, { prune: true }))).toEqual(['delete groups /acme/sub/b']);
    await expect(apply('scope: /nowhere\norgs: { acme: {} }')).rejects.toMatchObject({
      details: [{ pointer: '/scope' }],
    });
  });

  it('deletes users before the resources that they use, and refuses if one of them remains', async () => {
    const p = 'providers: { p: { resource_type: X::Configuration::Provider::Lambda } }';
    const using = `lambdas: { l: { properties: { runtime: nodejs, code_type: inline, handler: run, code: x, provider: { id: /acme/p } } } }`;
    await apply(`orgs: { acme: { ${p}, orgs: { sub: { ${using} } } }, other: { ${using} } }`);
    const { seq } = fixture.world.store;
    const refused = apply('orgs: { acme: {} }', { prune: true });
    await expect(refused).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/^\/acme\/p cannot be pruned: .*1 lambda/),
    });
    expect(fixture.world.store.seq).toBe(seq);
    expect(changed(await apply('orgs: { acme: {}, other: {} }', { prune: true }))).toHaveLength(4);
  });
});
