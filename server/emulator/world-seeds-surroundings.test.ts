import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LambdaCall, LambdaInvoker } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import type { World } from '../model/record.ts';
import { changed, lambda, seedsOf } from './applied-seed-for-tests.ts';
import { idleInvoker } from './idle-invoker.ts';
import { firstWorld, openSeeds, type SeedsForTests } from './seeds-for-tests.ts';

let empty: World;
let world: SeedsForTests;
beforeAll(async () => {
  empty = await firstWorld('empty');
});
beforeEach(async () => {
  world = await openSeeds(empty);
});

const { apply, named } = seedsOf(() => world);

describe('the world around', () => {
  it('has its limit rules kept', async () => {
    await apply(`
orgs:
  acme:
    policies:
      p:
        rules:
          few:
            resource_type: X::Resource::Rule::Limit
            properties: { match_actions: [{ action: lambda.create }], eval_logic: { property: lambdas.count, operator: <, value: 2 } }
`);
    const lambdas = (...names: string[]) =>
      `orgs: { acme: { lambdas: { ${names.map((name) => `${name}: { properties: { ${lambda}, code: x } }`).join(', ')} } } }`;
    await expect(apply(lambdas('a', 'b'))).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('few'),
    });
    expect(world.store.view.all('lambdas')).toEqual([]);
    await apply(lambdas('a'));
  });

  it('has its event rules told of what was done, once, and of nothing that was not', async () => {
    const calls: { event: JsonObject; isThere: boolean }[] = [];
    const invoker: LambdaInvoker = {
      ...idleInvoker,
      invoke: (lambdaId, call: LambdaCall) => {
        const event = JSON.parse(Buffer.from(call.body).toString());
        calls.push({ event, isThere: world.store.view.find(event.resource.id) !== undefined });
        return idleInvoker.invoke(lambdaId, call);
      },
    };
    world = await openSeeds(empty, invoker);
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
`);
    const seed = 'orgs: { acme: { workspaces: { w: {} } } }';
    await apply(seed, { dryRun: true });
    await apply(seed);
    await expect.poll(() => calls).toMatchObject([{ event: { action: 'workspace.create.post' }, isThere: true }]);
    await apply(seed);
    expect(calls).toHaveLength(1);
  });

  it('may be changed by others meanwhile', async () => {
    const user = 'orgs: { acme: { users: { ann: { properties: { password: x } } } } }';
    const applying = apply(user);
    // Its password takes a while to be hashed.
    await world.service.create(world.act, world.store.view.root.id, 'orgs', { name: 'acme', description: 'of others' });
    const applied = await applying;
    expect(changed(applied)).toEqual(['create users /acme/ann']);
    expect(named('orgs', 'acme').description).toBe('of others');
    expect(changed(await apply(user))).toEqual([]);
  });

  it('is left alone when others never stop changing it', async () => {
    let seq = 0;
    world = await openSeeds(empty, idleInvoker, (store) => ({
      world: store.world,
      view: store.view,
      get seq() {
        return seq++;
      },
      commit: () => Promise.reject(new Error('must not be reached')),
    }));
    await expect(apply('orgs: { acme: {} }')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('try again'),
    });
  });
});
