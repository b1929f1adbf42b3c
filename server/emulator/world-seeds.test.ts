import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AppliedSeed } from '../inspector/seed-routes.ts';
import type { Commit } from '../model/commit.ts';
import type { LambdaCall, LambdaInvoker } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource, World } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { packageFile } from '../package-file.ts';
import { idleInvoker } from './idle-invoker.ts';
import { readSeedFileForApply, seedFilesOf } from './seed-files.ts';
import { firstWorld, openSeeds, type SeedsForTests } from './seeds-for-tests.ts';

const DEMO = packageFile('fixtures/worlds/demo.yaml');

let empty: World;
let demo: World;
let world: SeedsForTests;
beforeAll(async () => {
  [empty, demo] = await Promise.all([firstWorld('empty'), firstWorld('demo')]);
});
beforeEach(async () => {
  world = await openSeeds(empty);
});

type Wish = { dryRun?: boolean; prune?: boolean };

async function apply(yaml: string, wish: Wish = {}, to = world): Promise<AppliedSeed> {
  const text = /^format: 1$/m.test(yaml) ? yaml : `format: 1\n${yaml}`;
  return to.seeds.apply(to.act.caller, { format: 'yaml', text }, { dryRun: false, prune: false, ...wish });
}

/** What an answer says of one resource. */
function changeOf({ changes }: AppliedSeed, path: string) {
  const found = changes.filter((change) => change.path === path);
  expect(found).toHaveLength(1);
  return found[0];
}
const changed = ({ changes }: AppliedSeed) =>
  changes.filter(({ action }) => action !== 'unchanged').map(({ path, type, action }) => `${action} ${type} ${path}`);

/** The resource of that name, of which there is one. */
function named(word: TypeWord, name: string, of = world): StoredResource {
  const [found, another] = of.store.view.named(word, name);
  if (!found || another) throw new Error(`${word} '${name}': ${found ? 'several' : 'none'}`);
  return found;
}

const lambda = 'runtime: nodejs, code_type: inline, handler: run, provider: { id: default-lambda }';

describe('the demo seed', () => {
  const sent = async () => JSON.stringify((await readSeedFileForApply(DEMO)).document);
  const plain = { dryRun: false, prune: false };

  it('changes nothing in the demo world', async () => {
    world = await openSeeds(demo);
    const applied = await world.seeds.apply(
      world.act.caller,
      { format: 'json', text: await sent() },
      { ...plain, prune: true },
    );
    expect(changed(applied)).toEqual([]);
    expect(applied.summary.unchanged).toBe(21);
    expect(applied.commit).toBeUndefined();
    expect(world.store.seq).toBe(0);
  });

  it('makes the demo world of an empty one, in one commit that can be undone', async () => {
    const before = new Map(world.store.world.resources);
    const commits: Commit[] = [];
    world.store.onCommit((commit) => commits.push(commit));
    const apply = async () => world.seeds.apply(world.act.caller, { format: 'json', text: await sent() }, plain);

    expect(await apply()).toMatchObject({ dryRun: false, commit: 1, summary: { update: 1, delete: 0, unchanged: 0 } });
    const original = await openSeeds(demo);
    expect(world.seeds.export('/', 'yaml')).toBe(original.seeds.export('/', 'yaml'));
    expect((await apply()).commit).toBeUndefined();

    expect(commits).toMatchObject([{ seq: 1, cause: { actor: { name: 'root' }, via: 'seed', action: 'world.apply' } }]);
    await world.store.commitOps(commits[0]?.inverse ?? [], { actor: null, via: 'api' });
    expect(new Map(world.store.world.resources)).toEqual(before);
  });

  it('comes out of an export with nothing missing but what nobody may read', async () => {
    const original = await openSeeds(demo);
    const text = original.seeds.export('/', 'yaml');
    await expect(apply(text)).rejects.toMatchObject({
      status: 400,
      details: [
        { pointer: '/users/ada.byrne/properties/password', message: expect.stringContaining('write the value') },
      ],
    });
    await apply(text.replaceAll('<not exported>', 'filled in'));
    expect(world.seeds.export('/', 'yaml')).toBe(text);
    const code = await readFile(packageFile('fixtures/lambdas/order-status.mjs'), 'utf8');
    expect(
      parse(text).orgs.demo.workspaces.website.environments.development.lambdas['order-status'].properties.code,
    ).toBe(code);
  });
});

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
    expect(world.store.seq).toBe(2);
  });

  it('leaves alone what the seed does not name, and members that it does not have', async () => {
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

  it('answers what it would do when only that is asked, and does nothing', async () => {
    await apply('orgs: { acme: { description: one } }');
    const { seq } = world.store;
    const plan = await apply('orgs: { acme: { description: two, groups: { team: {} } } }', { dryRun: true });
    expect(plan).toMatchObject({ dryRun: true, summary: { create: 1, update: 1 } });
    expect(changeOf(plan, '/acme/team')).toEqual({
      path: '/acme/team',
      type: 'groups',
      action: 'create',
      patch: [{ op: 'add', path: '', value: { name: 'team', properties: { users: [] } } }],
    });
    expect(plan.commit).toBeUndefined();
    expect(world.store.seq).toBe(seq);
    expect(world.store.view.named('groups', 'team')).toEqual([]);
    const done = await apply('orgs: { acme: { description: two, groups: { team: {} } } }');
    expect(changed(done)).toEqual(changed(plan));
  });

  it('changes nothing at all when one part of it is refused', async () => {
    const seed = `orgs: { acme: { lambdas: { good: { properties: { ${lambda}, code: x } }, bad: { properties: { ${lambda}, code: x, timeout: 9999 } } } } }`;
    await expect(apply(seed)).rejects.toMatchObject({
      status: 400,
      details: [{ pointer: '/orgs/acme/lambdas/bad/properties/timeout' }],
    });
    expect(world.store.seq).toBe(0);
    expect(world.store.view.named('orgs', 'acme')).toEqual([]);
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
    const exported = world.seeds.export('/', 'yaml');
    expect(exported).not.toMatch(/hush/);
    expect(changed(await apply(exported))).toEqual([]);
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
      /take the id out/,
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
      /'org.fly' is no action of orgs/,
    ],
    [
      'would have a right for nobody known',
      'entitlements: [{ actions: [org.view], identities: [11111111-2222-4333-8444-555555555555] }]',
      '/orgs/acme/entitlements',
      /no user or group/,
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
    await expect(apply(`orgs: { other: { groups: { team: { id: ${id} } } } }`)).rejects.toThrow(/nothing can be moved/);
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
    const exported = world.seeds.export('/acme', 'yaml');
    expect(exported).toContain('volume_id: data');
    expect(exported).not.toContain('health_checks');
    expect(changed(await apply(exported, { prune: true }))).toEqual([]);
  });

  it('changes members of the root organization', async () => {
    const applied = await apply('description: Everything\nproperties: { env: { A: b } }');
    expect(changed(applied)).toEqual(['update orgs /']);
    expect(world.store.view.root).toMatchObject({ description: 'Everything', properties: { env: { A: 'b' } } });
    expect(world.seeds.export('/', 'yaml')).toContain('description: Everything');
  });
});

describe('pruning', () => {
  const full = `orgs: { acme: { groups: { a: {}, b: {} }, workspaces: { w: { lambdas: { l: { properties: { ${lambda}, code: x } } } } } }, other: { groups: { c: {} } } }`;

  it('deletes what is not in the seed below its organizations, and only with the wish for it', async () => {
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
    expect(world.store.view.named('workspaces', 'w')).toEqual([]);
    expect(named('groups', 'c').name).toBe('c');
    expect(named('providers', 'default-lambda').name).toBe('default-lambda');
  });

  it('reaches no further than the scope of the document', async () => {
    await apply('orgs: { acme: { groups: { a: {} }, orgs: { sub: { groups: { b: {} } } } } }');
    const sub = world.seeds.export('/acme/sub/', 'yaml');
    expect(parse(sub)).toMatchObject({ scope: '/acme/sub', orgs: { acme: { orgs: { sub: { groups: { b: {} } } } } } });
    expect(changed(await apply(sub, { prune: true }))).toEqual([]);
    const less = 'scope: /acme/sub\norgs: { acme: { orgs: { sub: {} } } }';
    expect(changed(await apply(less, { prune: true }))).toEqual(['delete groups /acme/sub/b']);
    await expect(apply('scope: /nowhere\norgs: { acme: {} }')).rejects.toMatchObject({
      details: [{ pointer: '/scope' }],
    });
  });

  it('lets users go before what they use, and refuses when one of them stays', async () => {
    const p = 'providers: { p: { resource_type: X::Configuration::Provider::Lambda } }';
    const using = `lambdas: { l: { properties: { runtime: nodejs, code_type: inline, handler: run, code: x, provider: { id: /acme/p } } } }`;
    await apply(`orgs: { acme: { ${p}, orgs: { sub: { ${using} } } }, other: { ${using} } }`);
    const { seq } = world.store;
    const refused = apply('orgs: { acme: {} }', { prune: true });
    await expect(refused).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/^\/acme\/p cannot be pruned: .*1 lambda/),
    });
    expect(world.store.seq).toBe(seq);
    expect(changed(await apply('orgs: { acme: {}, other: {} }', { prune: true }))).toHaveLength(4);
  });
});

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

describe('an export', () => {
  it('has default providers only where they were changed, with their ids', async () => {
    const { view } = world.store;
    expect(parse(world.seeds.export('/', 'yaml'))).toEqual({ format: 1 });
    const { id } = named('providers', 'default-logging');
    await world.service.patch(world.act, id, [{ op: 'replace', path: '/name', value: 'our-logging' }]);
    const text = world.seeds.export('/', 'yaml');
    expect(Object.keys(parse(text).providers)).toEqual(['our-logging']);
    expect(parse(text).providers['our-logging'].id).toBe(id);

    const other = await openSeeds(empty);
    expect(changed(await apply(text, {}, other))).toEqual(['update providers /our-logging']);

    await world.service.remove(world.act, named('providers', 'default-docker').id, {
      force: true,
      deleteContainers: false,
    });
    const without = world.seeds.export('/', 'yaml');
    expect(parse(without)).toMatchObject({
      defaultProviders: false,
      providers: { 'default-lambda': { id: expect.any(String) } },
    });
    expect(changed(await apply(without))).toEqual([]);
    expect(view.named('providers', 'default-docker')).toEqual([]);
  });

  it('names by path what has no clear name, by id what has no clear path, and gives ids to what texts mention', async () => {
    await apply(`
users: { same: { properties: { password: x } } }
orgs:
  acme:
    users: { ann: { properties: { password: x } } }
    groups: { ann: { properties: { users: [ann] } } }
    entitlements: [{ actions: [org.view], identities: [/same] }]
    workspaces: { w: {} }
`);
    const [ann, group, w] = [named('users', 'ann'), named('groups', 'ann'), named('workspaces', 'w')];
    await apply(
      `orgs: { acme: { properties: { env: { WORKSPACE: ${w.id} } }, entitlements: [{ actions: [org.update], identities: [${ann.id}, ${group.id}] }] } }`,
    );
    const { acme } = parse(world.seeds.export('/', 'yaml')).orgs;
    expect(acme.entitlements).toEqual([{ actions: ['org.update'], identities: [ann.id, group.id] }]);
    expect(acme.users.ann.id).toBe(ann.id);
    expect(acme.groups.ann).toMatchObject({ id: group.id, properties: { users: ['ann'] } });
    expect(acme.workspaces.w.id).toBe(w.id);
    expect(acme.id).toBeUndefined();
  });

  it('can be laid out as a folder, with code in files', async () => {
    const original = await openSeeds(demo);
    const files = seedFilesOf(JSON.parse(original.seeds.export('/', 'json')));
    const code = 'lambdas/demo-website-development-contact-form.js';
    expect(files.get(code)).toBe(await readFile(packageFile('fixtures/lambdas/web-form.js'), 'utf8'));

    const dir = await mkdtemp(path.join(tmpdir(), 'terrarium-seed-'));
    try {
      await mkdir(path.join(dir, 'lambdas'));
      for (const [file, text] of files) await writeFile(path.join(dir, file), text);
      const { document } = await readSeedFileForApply(path.join(dir, 'world.yaml'));
      const text = JSON.stringify(document);
      const applied = await original.seeds.apply(
        original.act.caller,
        { format: 'json', text },
        { dryRun: false, prune: true },
      );
      expect(changed(applied)).toEqual([]);
      expect(files.get('world.yaml')).toContain(`codeFile: ${code}`);
      expect(files.size).toBe(4);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('is refused for what is no organization', async () => {
    expect(() => world.seeds.export('/nowhere', 'yaml')).toThrow(/no organization 'nowhere'/);
    expect(() => world.seeds.export('acme', 'yaml')).toThrow(/not the path/);
  });
});
