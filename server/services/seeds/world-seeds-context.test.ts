import { describe, expect, it } from 'vitest';
import { changed, lambda, seedsForEachTest } from '../../testing/applied-seed.ts';
import { idleInvoker, openSeeds } from '../../testing/world-seeds.ts';

const fixture = seedsForEachTest();
const { apply, named } = fixture;

describe('the world around', () => {
  it('evaluates neither its limits nor its event rules (D-215)', async () => {
    const calls: unknown[] = [];
    const invoker = {
      ...idleInvoker,
      invoke: (...call: Parameters<typeof idleInvoker.invoke>) => {
        calls.push(call);
        return idleInvoker.invoke(...call);
      },
    };
    fixture.world = await openSeeds(fixture.empty, invoker);
    await apply(`
orgs:
  acme:
    lambdas: { watcher: { properties: { ${lambda}, code: x } } }
    policies:
      p:
        rules:
          watch:
            resource_type: X::Resource::Rule::Event
            properties: { match_actions: [{ action: workspace.create.post }], lambda: watcher }
          none:
            resource_type: X::Resource::Rule::Limit
            properties: { match_actions: [{ action: workspace.create }], eval_logic: { property: workspaces.count, operator: <, value: 1 } }
`);
    expect(changed(await apply('orgs: { acme: { workspaces: { w: {} } } }'))).toEqual(['create workspaces /acme/w']);
    expect(calls).toEqual([]);
  });

  it('learns which code runs from now on (D-215)', async () => {
    const seed = `
orgs:
  acme:
    lambdas:
      idle: { properties: { ${lambda}, code: x } }
      ready: { properties: { ${lambda}, code: x, pre_warm: 2 } }
    policies:
      p:
        rules:
          watch:
            resource_type: X::Resource::Rule::Event
            properties: { match_actions: [{ action: workspace.create.post }], lambda: idle }
`;
    const runs = [
      { type: 'lambdas', path: '/acme/idle', reasons: ['rule /acme/p/watch'] },
      { type: 'lambdas', path: '/acme/ready', reasons: ['2 kept ready'] },
    ];
    const sorted = async (options?: { dryRun: boolean }) =>
      (await apply(seed, options)).runs?.toSorted((a, b) => a.path.localeCompare(b.path));
    expect(await sorted({ dryRun: true })).toEqual(runs);
    expect(await sorted()).toEqual(runs);
    expect(await sorted()).toBeUndefined();
  });

  it('may be changed by others meanwhile', async () => {
    const user = 'orgs: { acme: { users: { ann: { properties: { password: x } } } } }';
    const applying = apply(user);
    // Hashing its password takes a while.
    await fixture.world.service.create(fixture.world.act, fixture.world.store.view.root.id, 'orgs', {
      name: 'acme',
      description: 'of others',
    });
    const applied = await applying;
    expect(changed(applied)).toEqual(['create users /acme/ann']);
    expect(named('orgs', 'acme').description).toBe('of others');
    expect(changed(await apply(user))).toEqual([]);
  });

  it('is left alone when others never stop changing it', async () => {
    let seq = 0;
    fixture.world = await openSeeds(fixture.empty, idleInvoker, (store) => ({
      world: store.world,
      view: store.view,
      get seq() {
        return seq++;
      },
      commit: () => Promise.reject(new Error('must not be reached')),
    }));
    await expect(apply('orgs: { acme: {} }')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('Try again'),
    });
  });
});
