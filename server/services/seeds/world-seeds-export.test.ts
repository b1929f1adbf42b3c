// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a world file
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { World } from '../../model/record.ts';
import { changed, lambda, seedsForEachTest, seedsOf } from '../../testing/applied-seed.ts';
import { exported, firstWorld, openSeeds } from '../../testing/world-seeds.ts';
import { readSeedFileForApply } from './read-seed.ts';
import { seedFolder } from './seed-folder.ts';

const fixture = seedsForEachTest();
const { apply, named } = fixture;
let demo: World;
beforeAll(async () => {
  demo = await firstWorld('demo');
});

describe('an export', () => {
  it('has default providers only where they were changed, with their ids', async () => {
    const { view } = fixture.world.store;
    expect(parse(await exported(fixture.world.seeds, '/', 'yaml'))).toEqual({ format: 1 });
    const { id } = named('providers', 'default-logging');
    await fixture.world.service.patch(fixture.world.act, id, [{ op: 'replace', path: '/name', value: 'our-logging' }]);
    const text = await exported(fixture.world.seeds, '/', 'yaml');
    expect(Object.keys(parse(text).providers)).toEqual(['our-logging']);
    expect(parse(text).providers['our-logging'].id).toBe(id);

    const other = await openSeeds(fixture.empty);
    expect(changed(await seedsOf(() => other).apply(text))).toEqual(['update providers /our-logging']);

    await fixture.world.service.remove(fixture.world.act, named('providers', 'default-docker').id, {
      force: true,
      deleteContainers: false,
    });
    const seedText = await exported(fixture.world.seeds, '/', 'yaml');
    expect(parse(seedText)).toMatchObject({
      defaultProviders: false,
      providers: { 'default-lambda': { id: expect.any(String) } },
    });
    expect(changed(await apply(seedText))).toEqual([]);
    expect(view.named('providers', 'default-docker')).toEqual([]);
  });

  it('says that texts like variables are values, and can be applied from a file without them', async () => {
    await apply("orgs: { shop: { description: 'costs ${PRICE}' } }");
    expect(named('orgs', 'shop').description).toBe('costs ${PRICE}');
    const text = await exported(fixture.world.seeds, '/', 'yaml');
    expect(parse(text)).toMatchObject({ replaceVariables: false, orgs: { shop: { description: 'costs ${PRICE}' } } });
    expect(changed(await apply(text))).toEqual([]);
    const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-export-'));
    const file = path.join(folder, 'world.yaml');
    await writeFile(file, text);
    const { document: toSend } = await readSeedFileForApply(file, {});
    expect(changed(await apply(stringify(toSend)))).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it('names resources by path if the name is ambiguous, by id if the path is, and adds ids that texts mention', async () => {
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
    const { acme } = parse(await exported(fixture.world.seeds, '/', 'yaml')).orgs;
    expect(acme.entitlements).toEqual([{ actions: ['org.update'], identities: [ann.id, group.id] }]);
    expect(acme.users.ann.id).toBe(ann.id);
    expect(acme.groups.ann).toMatchObject({ id: group.id, properties: { users: ['ann'] } });
    expect(acme.workspaces.w.id).toBe(w.id);
    expect(acme.id).toBeUndefined();
  });

  it('of one organization has the names of accounts outside that it names, so that an empty world can apply it', async () => {
    await apply(`
users: { zoe: { properties: { password: x, email: zoe@example.com } }, ann: { properties: { password: x } } }
orgs:
  acme:
    groups: { crew: { properties: { users: [ann] } } }
    orgs:
      sub:
        entitlements: [{ actions: [org.view], identities: [zoe, /acme/crew, root, ann] }]
        groups: { team: { properties: { users: [zoe] } } }
`);
    const text = await exported(fixture.world.seeds, '/acme/sub', 'yaml');
    const sub = {
      entitlements: [{ actions: ['org.view'], identities: ['zoe', 'crew', 'root', 'ann'] }],
      groups: { team: { properties: { users: ['zoe'] } } },
    };
    const orgs = { acme: { groups: { crew: {} }, orgs: { sub } } };
    expect(parse(text)).toEqual({ format: 1, scope: '/acme/sub', users: { ann: {}, zoe: {} }, orgs });
    expect(text.indexOf('ann: {}')).toBeLessThan(text.indexOf('zoe: {}'));
    expect(changed(await apply(text, { prune: true }))).toEqual([]);

    fixture.world = await openSeeds(fixture.empty);
    expect(changed(await apply(text, { prune: true }))).toContain('create users /zoe');
    expect(parse(await exported(fixture.world.seeds, '/acme/sub', 'yaml'))).toEqual(parse(text));
  });

  it('of one organization has the providers outside that it uses, so that an empty world can apply it', async () => {
    await apply(`
providers:
  default-docker: { resource_type: 'X::Configuration::Provider::CaaS::Docker', description: of this world }
  unused: { resource_type: 'X::Configuration::Provider::Logging' }
orgs:
  acme:
    users: { zoe: { properties: { password: x } } }
    providers:
      docker: { resource_type: 'X::Configuration::Provider::CaaS::Docker' }
      logging: { resource_type: 'X::Configuration::Provider::Logging' }
      runner:
        resource_type: X::Configuration::Provider::Lambda
        properties:
          linked_providers: [{ id: logging, prefix: LOG_ }, { id: default-docker }]
          services: [{ container_spec: { properties: { provider: { id: docker } } } }]
        entitlements: [{ actions: [provider.view], identities: [zoe] }]
    orgs:
      sub:
        workspaces:
          w:
            environments:
              e:
                properties: { environment_type: test }
                lambdas:
                  l: { properties: { provider: { id: runner }, runtime: nodejs, code_type: code, code: x, handler: run } }
`);
    const text = await exported(fixture.world.seeds, '/acme/sub', 'yaml');
    const { acme } = parse(text).orgs;
    expect(Object.keys(acme)).toEqual(['providers', 'orgs']);
    expect(Object.keys(acme.providers)).toEqual(['docker', 'logging', 'runner']);
    expect(acme.providers.runner).toMatchObject({
      properties: { linked_providers: [{ id: 'logging' }, { id: 'default-docker' }] },
    });
    expect(acme.providers.runner).not.toHaveProperty('entitlements');
    expect(parse(text).providers).toBeUndefined();
    expect(changed(await apply(text, { prune: true }))).toEqual([]);

    fixture.world = await openSeeds(fixture.empty);
    expect(changed(await apply(text))).toContain('create lambdas /acme/sub/w/e/l');
    expect(parse(await exported(fixture.world.seeds, '/acme/sub', 'yaml'))).toEqual(parse(text));
  });

  it('of one organization has a renamed default provider, and only references to lambdas outside', async () => {
    const { id } = named('providers', 'default-logging');
    await apply(`
providers: { renamed: { id: ${id}, resource_type: 'X::Configuration::Provider::Logging' } }
orgs:
  acme: { workspaces: { w: { environments: { e: { properties: { environment_type: test }, lambdas: { l: { properties: { ${lambda}, code: x } } } } } } } }
  sub:
    providers: { p: { resource_type: 'X::Configuration::Provider::Logging', properties: { linked_providers: [{ id: renamed }] } } }
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: test }
            apis: { a: { apiendpoints: { x: { properties: { resource: /x, implementation_type: lambda, implementation_id: /acme/w/e/l } } } } }
`);
    const { providers, orgs } = parse(await exported(fixture.world.seeds, '/sub', 'yaml'));
    expect(providers).toMatchObject({ renamed: { id } });
    expect(Object.keys(orgs)).toEqual(['sub']);
    const { properties } = orgs.sub.workspaces.w.environments.e.apis.a.apiendpoints.x;
    expect(properties.implementation_id).toBe('/acme/w/e/l');
  });

  it('applied to the world it is of makes no commit, whatever effective defaults were sent (D-027)', async () => {
    fixture.world = await openSeeds(demo);
    const { id } = named('lambdas', 'contact-form');
    await fixture.world.service.patch(fixture.world.act, id, [
      { op: 'add', path: '/properties/public', value: true },
      { op: 'add', path: '/description', value: '' },
      { op: 'add', path: '/tags', value: [] },
    ]);
    const endpoint = fixture.world.store.view.all('apiendpoints')[0];
    await fixture.world.service.patch(fixture.world.act, endpoint?.id ?? '', [
      { op: 'add', path: '/properties/synchronous', value: true },
      { op: 'add', path: '/properties/methods', value: [] },
    ]);
    await apply(`
orgs:
  demo:
    policies:
      p:
        rules:
          few:
            resource_type: X::Resource::Rule::Limit
            properties:
              strict: true
              match_actions: [{ action: lambda.create }]
              eval_logic: { property: lambdas.count, operator: <, value: 9 }
`);
    const applied = await apply(await exported(fixture.world.seeds, '/', 'yaml'));
    expect(changed(applied)).toEqual([]);
    expect(applied.commit).toBeUndefined();
    expect(named('lambdas', 'contact-form').properties.public).toBe(true);
  });

  it('can be laid out as a folder, with code in files', async () => {
    const original = await openSeeds(demo);
    const files = seedFolder(JSON.parse(await exported(original.seeds, '/', 'json')));
    const code = 'lambdas/demo-website-development-contact-form.js';
    expect(files.get(code)).toBe(
      await readFile(new URL('../../../fixtures/lambdas/web-form.js', import.meta.url), 'utf8'),
    );

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
      expect(files.size).toBe(5);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('is of one commit, whatever changes while it is read', async () => {
    const { id } = named('providers', 'default-logging');
    const rename = (value: string) =>
      fixture.world.service.patch(fixture.world.act, id, [{ op: 'replace', path: '/name', value }]);
    await rename('before');
    const seedText = await exported(fixture.world.seeds, '/', 'json');
    const texts = (await fixture.world.seeds.export('/', 'json'))[Symbol.iterator]();
    const first = texts.next().value;
    await rename('after');
    expect(first + [...{ [Symbol.iterator]: () => texts }].join('')).toBe(seedText);
  });

  it('is rejected for resources other than organizations', async () => {
    await expect(exported(fixture.world.seeds, '/nowhere', 'yaml')).rejects.toThrow(/organization 'nowhere' not found/);
    await expect(exported(fixture.world.seeds, 'acme', 'yaml')).rejects.toThrow(/not the path/);
  });
});
