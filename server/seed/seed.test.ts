import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyPatch, type Operation } from 'fast-json-patch';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Grant, StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { parseTypeName } from '../model/type-names.ts';
import type { TypeWord } from '../model/type-words.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';
import { applySeed } from './apply-seed.ts';
import { readSeed, readSeedFileForApply } from './read-seed.ts';
import type { SeedTarget } from './seed-target.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const DEFAULT_PROVIDERS = ['default-docker', 'default-lambda', 'default-gateway', 'default-gateway-manager'];

interface Created {
  id: Uuid;
  parentId: Uuid | null;
  word: TypeWord;
  body: JsonObject;
}

const BY = '00000000-0000-4000-8000-000000000001';
const AT = '2026-01-02T03:04:05.678Z';

/** A world that takes whatever the schemas of its types allow. */
class PlainWorld implements SeedTarget {
  readonly rootId = randomUUID();
  readonly created: Created[] = [];
  readonly patches: { id: Uuid; operations: readonly Operation[] }[] = [];
  readonly grants = new Map<Uuid, Record<string, Grant>>();
  readonly view: WorldView;

  constructor() {
    const all = () => this.created.map((one) => this.#record(one));
    const root: Created = { id: this.rootId, parentId: null, word: 'orgs', body: { name: 'root' } };
    this.view = {
      root: this.#record(root),
      find: (id) => [this.view.root, ...all()].find((one) => one.id === id),
      children: (id, word) => all().filter((one) => one.parent === id && (!word || typeOf(one).word === word)),
      ownedBy: () => [],
      all: (word) => all().filter((one) => typeOf(one).word === word),
      named: (word, name, parentId) => this.view.children(parentId ?? '', word).filter((one) => one.name === name),
      referrers: (id) => all().filter((one) => typeOf(one).references?.(one).includes(id)),
    };
  }

  #record({ id, parentId, word, body }: Created): StoredResource {
    const { name, resource_type: type, ...members } = body;
    return {
      properties: {},
      ...members,
      id,
      name: String(name),
      type: (typeof type === 'string' && parseTypeName(type)) || typeOfWord(word).name,
      parent: parentId,
      state: 'Active',
      owner: BY,
      created: { by: BY, at: AT },
      modified: { action: 'create', by: BY, at: AT },
      grants: this.grants.get(id) ?? {},
    };
  }

  async initializeProviders() {
    for (const name of DEFAULT_PROVIDERS) {
      if (!this.#find('providers', name, this.rootId)) await this.create(this.rootId, 'providers', { name });
    }
  }

  #find(word: TypeWord, name: string, parentId: Uuid): Uuid | undefined {
    return this.created.find((one) => one.word === word && one.parentId === parentId && one.body.name === name)?.id;
  }

  async create(parentId: Uuid, word: TypeWord, body: JsonObject) {
    const { name } = body;
    if (typeof name !== 'string') throw new Error('a body without a name');
    if (this.#find(word, name, parentId)) throw new PlatformError(409, `'${name}' exists already`);
    parseWith(typeOfWord(word).properties, body.properties ?? {}, '/properties');
    const id = typeof body.id === 'string' ? body.id : randomUUID();
    this.created.push({ id, parentId, word, body });
    return { id };
  }

  async patch(id: Uuid, operations: readonly Operation[]) {
    this.patches.push({ id, operations });
    const one = this.created.find((candidate) => candidate.id === id);
    if (!one) throw new PlatformError(404, `resource ${id} not found`);
    const body = applyPatch(one.body, operations, true, false).newDocument;
    parseWith(typeOfWord(one.word).properties, body.properties ?? {}, '/properties');
    one.body = body;
  }

  async setGrants(resourceId: Uuid, grants: Record<string, Grant>) {
    this.grants.set(resourceId, grants);
  }

  async remove(id: Uuid) {
    const at = this.created.findIndex((one) => one.id === id);
    if (this.view.children(id).length > 0) throw new PlatformError(409, 'it has children');
    this.created.splice(at, 1);
  }

  isPassword = async (text: string, hash: string) => hash === `hash of ${text}`;
  sourceOf = (code: string) => code;

  /** By type words and names from root, e.g. `orgs/demo/lambdas/hello`. */
  at(place: string): Created {
    const parts = place.split('/');
    let id: Uuid | undefined = this.rootId;
    // Every second part is a type word, as the seeds in these tests write them.
    for (let at = 0; at < parts.length; at += 2) id = id && this.#find(parts[at] as TypeWord, parts[at + 1] ?? '', id);
    const found = this.created.find((one) => one.id === id);
    if (!found) throw new Error(`nothing at ${place}`);
    return found;
  }

  propertiesAt(place: string) {
    return this.at(place).body.properties;
  }
}

describe('the seeds that come along', () => {
  it('demo: a website whose form becomes a lead, and a slow report', async () => {
    const world = new PlainWorld();
    const named = await applySeed(await readSeed(path.join(FIXTURES, 'worlds/demo.yaml')), world);
    expect(new Set(named)).toEqual(
      new Set(world.created.slice(DEFAULT_PROVIDERS.length).map(({ id }) => id)).add(world.rootId),
    );

    const development = 'orgs/demo/workspaces/website/environments/development';
    const form = world.at(`${development}/lambdas/contact-form`);
    expect(form.body.properties).toMatchObject({
      provider: { id: world.at('providers/default-lambda').id },
      code: (await readFile(path.join(FIXTURES, 'lambdas/web-form.js'))).toString('base64'),
      handler: 'run',
    });
    expect(world.propertiesAt(`${development}/apis/website`)).toEqual({
      provider: {
        id: world.at('providers/default-gateway-manager').id,
        locations: [world.at('providers/default-gateway').id],
      },
    });
    expect(world.propertiesAt(`${development}/apis/website/apiendpoints/lead`)).toEqual({
      resource: '/lead',
      methods: ['POST'],
      implementation_type: 'lambda',
      implementation_id: form.id,
      plugins: { rateLimit: { enabled: true, perMinute: 60 } },
    });
    const summary = world.at('orgs/demo/workspaces/reporting/environments/development/lambdas/slow-summary');
    expect(
      world.propertiesAt('orgs/demo/workspaces/reporting/environments/development/apis/api/apiendpoints/async'),
    ).toMatchObject({ resource: '/async', synchronous: false, implementation_id: summary.id });
    expect(
      ['development', 'test', 'production'].map((name) =>
        world.propertiesAt(`orgs/demo/workspaces/website/environments/${name}`),
      ),
    ).toEqual([{ environment_type: 'development' }, { environment_type: 'test' }, { environment_type: 'production' }]);

    const developers = world.at('orgs/demo/groups/developers');
    expect(developers.body.properties).toEqual({
      users: [world.at('users/ada.byrne').id, world.at('users/milo.tanaka').id],
    });
    const ci = world.at('users/ci-service').id;
    expect(world.grants.get(world.rootId)).toEqual({ 'provider.view': { add: [developers.id, ci] } });
    expect(world.grants.get(world.at('orgs/demo').id)?.['lambda.invoke']).toEqual({ add: [developers.id] });
    expect(world.grants.get(world.at(development).id)?.['container.create']).toEqual({ add: [ci] });
  });

  it('empty: the default providers and nothing else', async () => {
    const world = new PlainWorld();
    expect(await applySeed(await readSeed(path.join(FIXTURES, 'worlds/empty.yaml')), world)).toEqual([world.rootId]);
    expect(world.created.map(({ body }) => body.name)).toEqual(DEFAULT_PROVIDERS);
  });
});

describe('a seed file', () => {
  let dir: string;
  let world: PlainWorld;

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'terrarium-seed-'));
    world = new PlainWorld();
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function file(text: string | Buffer, name = 'seed.yaml') {
    const at = path.join(dir, name);
    await writeFile(at, text);
    return at;
  }
  const apply = async (text: string, name?: string) => applySeed(await readSeed(await file(text, name)), world);

  it('may be JSON', async () => {
    await apply('{\n\t"format": 1,\n\t"orgs": {"one": {"workspaces": {"two": null}}}\n}', 'seed.json');
    expect(world.at('orgs/one/workspaces/two').body).toEqual({ name: 'two', properties: {} });
  });

  it('may leave the default providers out', async () => {
    await apply('{format: 1, defaultProviders: false}');
    expect(world.created).toEqual([]);
  });

  it('hands on every member of a record, with the path given', async () => {
    const id = randomUUID();
    await apply(`
format: 1
orgs:
  one:
    id: ${id}
    description: First
    tags: [a, b]
    variables: { x: '1' }
    properties: { env: { A: b } }
    providers:
      swarm:
        resource_type: Platform::Configuration::Provider::CaaS::Swarm
        properties: { config: { anything: [1, { deep: true }] } }
`);
    expect(world.at('orgs/one').body).toEqual({
      id,
      name: 'one',
      description: 'First',
      tags: ['a', 'b'],
      variables: { x: '1' },
      properties: { env: { A: 'b' } },
    });
    expect(world.at('orgs/one/providers/swarm').body).toMatchObject({
      resource_type: 'Platform::Configuration::Provider::CaaS::Swarm',
      properties: { config: { anything: [1, { deep: true }] } },
    });
  });

  it('may name a resource before the place where it stands', async () => {
    await apply(`
format: 1
orgs:
  one:
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: test }
            apis:
              first:
                apiendpoints:
                  hi: { properties: { resource: /hi, implementation_type: lambda, implementation_id: late } }
            lambdas:
              late:
                properties: { provider: { id: mine }, runtime: nodejs, code_type: code, code: x, handler: run }
    providers:
      mine: { resource_type: 'X::Configuration::Provider::Lambda' }
`);
    const endpoint = world.propertiesAt('orgs/one/workspaces/w/environments/e/apis/first/apiendpoints/hi');
    const lambda = world.at('orgs/one/workspaces/w/environments/e/lambdas/late');
    expect(endpoint).toMatchObject({ implementation_id: lambda.id });
    expect(lambda.body.properties).toMatchObject({ provider: { id: world.at('orgs/one/providers/mine').id } });
  });

  it('finds what a reference means: nearest name, path with escaped slash, id of a resource to come', async () => {
    const id = randomUUID();
    const lambda = 'runtime: nodejs, code_type: code, code: x, handler: run, provider: { id: default-lambda }';
    await apply(`
format: 1
orgs:
  one:
    lambdas:
      far: { properties: { ${lambda} } }
      a/b: { properties: { ${lambda} } }
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: test }
            apis:
              api:
                apiendpoints:
                  near: { properties: { resource: /n, implementation_type: lambda, implementation_id: far } }
                  slash: { properties: { resource: /s, implementation_type: lambda, implementation_id: /one/a~1b } }
                  id: { properties: { resource: /i, implementation_type: lambda, implementation_id: ${id.toUpperCase()} } }
                  stranger: { properties: { resource: /x, implementation_type: container, implementation_id: ${world.rootId} } }
            lambdas:
              far: { id: ${id}, properties: { ${lambda} } }
`);
    const environment = 'orgs/one/workspaces/w/environments/e';
    const target = (name: string) => world.at(`${environment}/apis/api/apiendpoints/${name}`).body.properties;
    expect(target('near')).toMatchObject({ implementation_id: id });
    expect(target('slash')).toMatchObject({
      implementation_id: world.created.find(({ body }) => body.name === 'a/b')?.id,
    });
    expect(target('id')).toMatchObject({ implementation_id: id });
    expect(target('stranger')).toMatchObject({ implementation_id: world.rootId });
  });

  it('may build on what is in the world already', async () => {
    await apply('{format: 1, orgs: {one: {workspaces: {w: {}}}}}');
    const one = world.at('orgs/one').id;
    const { id } = await world.create(one, 'users', { name: 'ann', properties: { password: 'x' } });
    await apply('{format: 1, defaultProviders: false, orgs: {two: {groups: {g: {properties: {users: [/one/ann]}}}}}}');
    expect(world.propertiesAt('orgs/two/groups/g')).toEqual({ users: [id] });
  });

  it('collects what several entries say of one right', async () => {
    await apply(`
format: 1
users:
  ann: { properties: { password: x } }
  bob: { properties: { password: x } }
orgs:
  one:
    groups: { team: {} }
    entitlements:
      - { actions: [org.view, lambda.view], identities: [team], value: 7 }
      - { actions: [lambda.view], identities: [ann], without: [bob] }
`);
    const id = (place: string) => world.at(place).id;
    expect(world.grants.get(id('orgs/one'))).toEqual({
      'org.view': { add: [id('orgs/one/groups/team')], value: 7 },
      'lambda.view': { add: [id('orgs/one/groups/team'), id('users/ann')], remove: [id('users/bob')], value: 7 },
    });
  });

  it('may give what cannot be a key as a name', async () => {
    await apply('{format: 1, orgs: {one: {workspaces: {key: {name: __proto__}}}}}');
    expect(world.at('orgs/one/workspaces/__proto__').body).toEqual({ name: '__proto__', properties: {} });
  });

  it('may have a text that names nothing where a name may stand', async () => {
    await apply(`
format: 1
orgs:
  one:
    workspaces:
      w: { environments: { e: { properties: { environment_type: test }, apis: { a: { properties: { provider: { locations: [=here, default-gateway] } } } } } } }
`);
    expect(world.propertiesAt('orgs/one/workspaces/w/environments/e/apis/a')).toEqual({
      provider: { locations: ['here', world.at('providers/default-gateway').id] },
    });
  });

  it('changes nothing when it is applied again, though what it names may go in circles by then', async () => {
    const linked = (other: string, and = '') =>
      `{ resource_type: X::Configuration::Provider::Kong, properties: { linked_providers: [${other}]${and} } }`;
    await apply(`format: 1\nproviders:\n  a: ${linked('')}\n  b: ${linked('{ id: a }')}`);
    expect(world.patches).toEqual([]);
    const circle = `format: 1\nproviders:\n  a: ${linked('{ id: b }')}\n  b: ${linked('{ id: a }')}`;
    await apply(circle);
    const linkedProviders = [{ id: world.at('providers/b').id }];
    expect(world.patches).toEqual([
      {
        id: world.at('providers/a').id,
        operations: [{ op: 'add', path: '/properties/linked_providers', value: linkedProviders }],
      },
    ]);
    await apply(circle);
    expect(world.patches).toHaveLength(1);
  });

  it('can be read as a document to send, with code in place of files and the way back to its lines', async () => {
    await file('exports.run = 1;\n', 'code.js');
    await file('exports.run = 2;\n', 'other.js');
    const at = await file(`
format: 1
orgs:
  one:
    lambdas:
      a: { codeFile: code.js, properties: &shared { handler: run } }
      b:
        properties: *shared
        codeFile: other.js
`);
    const { document, placeOf } = await readSeedFileForApply(at);
    const code = (text: string) => Buffer.from(text).toString('base64');
    expect(document).toEqual({
      format: 1,
      orgs: {
        one: {
          lambdas: {
            a: { properties: { handler: 'run', code: code('exports.run = 1;\n') } },
            b: { properties: { handler: 'run', code: code('exports.run = 2;\n') } },
          },
        },
      },
    });
    expect(placeOf('/orgs/one/lambdas/a/properties/code')).toBe(`${at}:6`);
    expect(placeOf('/orgs/one/lambdas/b/properties/env')).toBe(`${at}:8`);
    expect(placeOf('')).toBe(`${at}:2`);
  });

  const org = (text: string) => `format: 1\norgs:\n  one:\n${text}`;

  it.each([
    ['is empty', '', 1, /\/format: must be 1/],
    ['has another format', 'format: 2', 1, /\/format: must be 1/],
    ['is not YAML', 'format: 1\norgs: {', 2, /not well-formed YAML/],
    ['names a thing twice', org('    description: a\n    description: b'), 5, /unique/],
    ['is a list', '- format: 1', 1, /expected object, received array/],
    ['has two documents', 'format: 1\n---\nformat: 1', 2, /multiple documents/],
    ['has an unknown tag', 'format: 1\norgs: !secret x', 2, /Unresolved tag/],
    [
      'has an unknown member',
      'format: 1\norganizations: {}',
      2,
      /\/organizations: is not a known member; known here: format, .*orgs/,
    ],
    [
      'has an unknown member deep inside',
      org('    workspaces:\n      w:\n        environment: {}'),
      6,
      /\/orgs\/one\/workspaces\/w\/environment: is not a known/,
    ],
    [
      'puts a type where it cannot be',
      org('    environments: {}'),
      4,
      /\/orgs\/one\/environments: is not a known member/,
    ],
    ['lists instead of naming', org('    workspaces:\n      - name: w'), 4, /expected workspaces by name/],
    [
      'has text where a record belongs',
      org('    workspaces:\n      w: hello'),
      5,
      /\/w: .*expected object, received string/,
    ],
    ['has a number for a text', org('    description: 5'), 4, /\/description: .*expected string/],
    [
      'has an unknown member in an entitlement',
      org('    entitlements:\n      - actions: [org.view]\n        who: [x]'),
      6,
      /\/entitlements\/0\/who: is not a known/,
    ],
    [
      'has an action without a verb',
      org('    entitlements:\n      - actions: [org]'),
      5,
      /\/actions\/0: must be an action/,
    ],
    [
      'names code that is not there',
      org('    lambdas:\n      l:\n        codeFile: nowhere.js'),
      6,
      /codeFile: the code cannot be read: .*nowhere\.js/,
    ],
    [
      'gives code twice',
      org('    lambdas:\n      l:\n        properties: {code: x}\n        codeFile: seed.yaml'),
      7,
      /beside properties.code/,
    ],
    ['gives code to something else', org('    codeFile: seed.yaml'), 4, /for lambdas only/],
    [
      'names a thing twice in two ways',
      org('    groups:\n      a: {}\n      b: { name: a }'),
      6,
      /is the second of the groups named 'a'/,
    ],
    [
      'has a scope that it does not hold',
      'format: 1\nscope: /one/two\norgs: { one: {} }',
      2,
      /\/scope: must be the path/,
    ],
    ['reaches for a prototype', org('    properties:\n      __proto__: {}'), 5, /'__proto__'/],
    ['is nested without end', `format: ${'['.repeat(30_000)}`, 1, /not well-formed YAML/],
  ])('that %s is refused with its line', async (_case, text, line, reason) => {
    const at = await file(text);
    const error = await readSeed(at).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SeedError', file: at, line, message: expect.stringMatching(reason) });
    expect(error).toMatchObject({ message: expect.stringMatching(`^${at}:${line}: [^\n]*$`) });
  });

  it.each([
    ['an unknown name', '{users: [nobody]}', /users\/0: none of the users here and above is named 'nobody'/],
    ['a path to nowhere', '{users: [/one/nobody]}', /'\/one\/nobody' leads to none of the users/],
    ['a path through nowhere', '{users: [/two/ann]}', /leads to none/],
    ['a name of another type', '{users: [team]}', /none of the users/],
  ])('with %s is refused before anything is created', async (_case, properties, reason) => {
    await expect(apply(org(`    groups:\n      team:\n        properties: ${properties}`))).rejects.toThrow(reason);
    expect(world.created).toHaveLength(DEFAULT_PROVIDERS.length);
  });

  it('that grants rights to nobody known is refused before anything is created', async () => {
    const seed = org('    entitlements:\n      - actions: [org.view]\n        identities:\n          - nobody');
    await expect(apply(seed)).rejects.toThrow(
      /:7: \/orgs\/one\/entitlements\/0\/identities\/0: none of the groups or users/,
    );
    expect(world.created).toHaveLength(DEFAULT_PROVIDERS.length);
  });

  it('whose reference could mean two things is refused', async () => {
    const seed = `${org('    groups: { same: {} }\n    users: { same: { properties: { password: x } } }')}
    entitlements: [{ actions: [org.view], identities: [same] }]`;
    await expect(apply(seed)).rejects.toThrow(/'same' could mean several groups or users/);
  });

  it('whose resources need each other first is refused', async () => {
    const linked = (other: string) => `{ resource_type: X, properties: { linked_providers: [{ id: ${other} }] } }`;
    await expect(apply(`format: 1\nproviders:\n  a: ${linked('b')}\n  b: ${linked('a')}`)).rejects.toThrow(
      /\/providers\/a: cannot be created/,
    );
  });

  it('that the platform refuses is told with the line of the offending member', async () => {
    await expect(apply(org('    properties:\n      env:\n        A: 5'))).rejects.toThrow(
      /seed\.yaml:6: \/orgs\/one\/properties\/env\/A: /,
    );
  });

  it('leaves a fault of the emulator what it is', async () => {
    world.create = async () => {
      throw new TypeError('a bug');
    };
    await expect(apply('{format: 1, defaultProviders: false, orgs: {one: {}}}')).rejects.toThrow(
      new TypeError('a bug'),
    );
  });

  it('cannot be an alias bomb', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `l${at}: &l${at} [${Array(9).fill(at ? `*l${at - 1}` : 'x')}]`,
    );
    await expect(readSeed(await file(`format: 1\n${levels.join('\n')}`))).rejects.toThrow(/aliases cannot be expanded/);
  });

  it('must be readable text', async () => {
    await expect(readSeed(path.join(dir, 'missing.yaml'))).rejects.toThrow(
      /missing\.yaml: the seed file cannot be read: ENOENT/,
    );
    await expect(readSeed(dir)).rejects.toThrow(/cannot be read/);
    await expect(readSeed(await file(Buffer.from([0x66, 0xff])))).rejects.toThrow(/not UTF-8/);
  });
});
