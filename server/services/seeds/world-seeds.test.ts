import { describe, expect, it } from 'vitest';
import { changed, changeOf, lambda, seedsForEachTest } from '../../testing/applied-seed.ts';
import { exported } from '../../testing/world-seeds.ts';

const fixture = seedsForEachTest();
const { apply, named } = fixture;

describe('applying a seed', () => {
  it('patches what differs, and tells so by JSON Patch', async () => {
    await apply(
      `orgs: { acme: { description: First, lambdas: { hello: { properties: { ${lambda}, code: one, timeout: 5 } } } } }`,
    );
    const before = named('lambdas', 'hello');
    const applied = await apply(
      `orgs: { acme: { tags: [x], lambdas: { hello: { properties: { ${lambda}, code: two, memory: 64 } } } } }`,
    );
    expect(changeOf(applied, '/acme')).toMatchObject({
      type: 'orgs',
      action: 'update',
      patch: [{ op: 'add', path: '/tags', value: ['x'] }],
    });
    const { patch, id } = changeOf(applied, '/acme/hello') ?? {};
    expect(id).toBe(before.id);
    expect(patch).toEqual(
      expect.arrayContaining([
        { op: 'replace', path: '/properties/code', value: 'two' },
        { op: 'add', path: '/properties/memory', value: 64 },
        { op: 'remove', path: '/properties/timeout' },
      ]),
    );
    expect(patch).toHaveLength(3);
    expect(named('orgs', 'acme')).toMatchObject({ description: 'First', tags: ['x'], properties: {} });
    expect(named('lambdas', 'hello')).toMatchObject({ id: before.id, modified: { action: 'update' } });
    expect(applied).toMatchObject({ commit: 2, summary: { create: 0, update: 2, delete: 0, unchanged: 1 } });
    expect(fixture.world.store.seq).toBe(2);
  });

  it('keeps resources and properties that the seed omits', async () => {
    await apply(
      'orgs: { acme: { description: x, properties: { env: { A: b } }, entitlements: [{ actions: [org.view], identities: [team] }], groups: { team: {} } } }',
    );
    const applied = await apply('orgs: { acme: {} }');
    expect(changed(applied)).toEqual([]);
    expect(applied.changes.map(({ path }) => path)).toEqual(['/', '/acme']);
    const other = await apply("orgs: { acme: { description: '', properties: {}, entitlements: [] } }");
    expect(changed(other)).toEqual(['update orgs /acme']);
    expect(named('orgs', 'acme')).toMatchObject({ description: '', properties: {} });
    expect(named('orgs', 'acme').grants).toBeUndefined();
  });

  it('returns the plan of a dry run, and changes nothing', async () => {
    await apply('orgs: { acme: { description: one } }');
    const { seq } = fixture.world.store;
    const plan = await apply('orgs: { acme: { description: two, groups: { team: {} } } }', { dryRun: true });
    expect(plan).toMatchObject({ dryRun: true, summary: { create: 1, update: 1 } });
    expect(changeOf(plan, '/acme/team')).toEqual({
      path: '/acme/team',
      type: 'groups',
      action: 'create',
      patch: [{ op: 'add', path: '', value: { name: 'team', properties: { users: [] } } }],
    });
    expect(plan.commit).toBeUndefined();
    expect(fixture.world.store.seq).toBe(seq);
    expect(fixture.world.store.view.named('groups', 'team')).toEqual([]);
    const done = await apply('orgs: { acme: { description: two, groups: { team: {} } } }');
    expect(changed(done)).toEqual(changed(plan));
  });

  it('changes nothing at all when one part of it is refused', async () => {
    const seed = `orgs: { acme: { lambdas: { good: { properties: { ${lambda}, code: x } }, bad: { properties: { ${lambda}, code: x, timeout: 9999 } } } } }`;
    await expect(apply(seed)).rejects.toMatchObject({
      status: 400,
      details: [{ pointer: '/orgs/acme/lambdas/bad/properties/timeout' }],
    });
    expect(fixture.world.store.seq).toBe(0);
    expect(fixture.world.store.view.named('orgs', 'acme')).toEqual([]);
  });

  it('keeps a password that is the one in the seed, and never tells one', async () => {
    const user = (password: string) => `users: { ann: { properties: { password: ${password}, firstName: Ann } } }`;
    const created = await apply(user('first-secret'));
    const { password } = named('users', 'ann').properties;
    expect(password).toMatch(/^scrypt/);
    expect(changed(await apply(user('first-secret')))).toEqual([]);
    expect(changed(await apply(user('<not exported>')))).toEqual([]);
    expect(changed(await apply('users: { ann: { properties: { firstName: Ann } } }'))).toEqual([]);
    expect(named('users', 'ann').properties.password).toBe(password);

    const other = await apply(user('other-secret'));
    expect(changeOf(other, '/ann')?.patch).toEqual([
      { op: 'replace', path: '/properties/password', value: '<hidden, another than before>' },
    ]);
    expect(named('users', 'ann').properties.password).not.toBe(password);
    expect(JSON.stringify([created, other])).not.toMatch(/-secret|scrypt/);
  });

  it('keeps values of secrets and credentials of providers that stand as not exported, and never tells them', async () => {
    const parts = (value: string, credentials: string) => `
orgs:
  acme:
    providers:
      engine:
        resource_type: Platform::Configuration::Provider::CaaS::Docker
        properties: { config: { url: here, auth: { credentials: ${credentials}, user: me } } }
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: test }
            secrets:
              s: { properties: { provider: { id: engine }, items: [{ key: A, value: ${value} }, { key: B, value: hush-b }] } }
`;
    await apply(parts('hush-a', '{ token: hush-c }'));
    const text = await exported(fixture.world.seeds, '/', 'yaml');
    expect(text).not.toMatch(/hush/);
    expect(changed(await apply(text))).toEqual([]);
    expect(changed(await apply(parts('<not exported>', '<not exported>')))).toEqual([]);
    expect(named('secrets', 's').properties.items).toEqual([
      { key: 'A', value: 'hush-a' },
      { key: 'B', value: 'hush-b' },
    ]);
    expect(named('providers', 'engine').properties.config).toMatchObject({
      auth: { credentials: { token: 'hush-c' } },
    });

    const applied = await apply(parts('hush-d', '{ token: hush-e }'));
    expect(changed(applied)).toEqual(['update providers /acme/engine', 'update secrets /acme/w/e/s']);
    expect(JSON.stringify(applied)).not.toMatch(/hush/);
    const added = parts('x', 'y').replace('key: B, value: hush-b', 'key: C, value: <not exported>');
    await expect(apply(added)).rejects.toMatchObject({
      details: [{ pointer: '/orgs/acme/workspaces/w/environments/e/secrets/s/properties/items/1/value' }],
    });
  });

  it('takes two ways to write the same code for the same', async () => {
    const seed = (code: string) =>
      `orgs: { acme: { lambdas: { l: { properties: { ${lambda}, code: ${JSON.stringify(code)} } } } } }`;
    await apply(seed('exports.run = 1;'));
    expect(changed(await apply(seed(Buffer.from('exports.run = 1;').toString('base64'))))).toEqual([]);
  });

  it('knows a resource by its id, and so renames it', async () => {
    await apply('orgs: { acme: { groups: { old: {} } } }');
    const { id } = named('groups', 'old');
    const renamed = await apply(`orgs: { acme: { groups: { new: { id: ${id} } } } }`);
    expect(changeOf(renamed, '/acme/new')).toMatchObject({
      id,
      patch: [{ op: 'replace', path: '/name', value: 'new' }],
    });
    expect(named('groups', 'new').id).toBe(id);
  });

  it.each([
    [
      'has another id',
      'groups: { team: { id: 11111111-2222-4333-8444-555555555555 } }',
      '/orgs/acme/groups/team/id',
      /Remove the id/,
    ],
    [
      'is of another type',
      'providers: { p: { resource_type: X::Configuration::Provider::Kong } }',
      '/orgs/acme/providers/p/resource_type',
      /cannot be changed/,
    ],
    [
      'would have an unknown right',
      'entitlements: [{ actions: [org.fly] }]',
      '/orgs/acme/entitlements/0/actions/0',
      /'org.fly' is not an action of orgs/,
    ],
    [
      'would grant a permission to an unknown identity',
      'entitlements: [{ actions: [org.view], identities: [11111111-2222-4333-8444-555555555555] }]',
      '/orgs/acme/entitlements',
      /not the id of a user or group/,
    ],
  ])('refuses a resource that %s', async (_case, part, pointer, message) => {
    await apply(
      'orgs: { acme: { groups: { team: {} }, providers: { p: { resource_type: X::Configuration::Provider::Logging } } } }',
    );
    const refusal = { status: 400, details: [{ pointer, message: expect.stringMatching(message) }] };
    await expect(apply(`orgs: { acme: { ${part} } }`)).rejects.toMatchObject(refusal);
  });

  it('refuses to move a resource', async () => {
    await apply('orgs: { acme: { groups: { team: {} } }, other: {} }');
    const { id } = named('groups', 'team');
    await expect(apply(`orgs: { other: { groups: { team: { id: ${id} } } } }`)).rejects.toThrow(/cannot be moved/);
  });

  it('makes a volume that a container asks for once', async () => {
    const seed = `
orgs:
  acme:
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: test }
            containers:
              web:
                properties:
                  container_type: DOCKER
                  image: nginx
                  provider: { id: default-docker }
                  volumes: [{ mount_path: /data, volume_resource: { name: data, properties: { type: empty_dir } } }]
`;
    const created = await apply(seed, { prune: true });
    expect(changed(created)).toContain('create volumes /acme/w/e/data');
    expect(changed(await apply(seed, { prune: true }))).toEqual([]);
    const text = await exported(fixture.world.seeds, '/acme', 'yaml');
    expect(text).toContain('volume_id: data');
    expect(text).not.toContain('health_checks');
    expect(changed(await apply(text, { prune: true }))).toEqual([]);
  });

  it('changes members of the root organization', async () => {
    const applied = await apply('description: Everything\nproperties: { env: { A: b } }');
    expect(changed(applied)).toEqual(['update orgs /']);
    expect(fixture.world.store.view.root).toMatchObject({ description: 'Everything', properties: { env: { A: 'b' } } });
    expect(await exported(fixture.world.seeds, '/', 'yaml')).toContain('description: Everything');
  });
});
