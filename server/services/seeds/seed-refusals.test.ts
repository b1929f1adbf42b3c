import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_PROVIDERS, PlainWorld } from '../../testing/plain-world.ts';
import { seedDirectory } from '../../testing/seed-directory.ts';
import { applySeed } from './apply-seed.ts';
import { readSeed } from './read-seed.ts';

describe('a seed file', () => {
  let world: PlainWorld;
  beforeEach(() => {
    world = new PlainWorld();
  });
  const { file, pathOf } = seedDirectory();
  const apply = async (text: string, name?: string) => applySeed(await readSeed(await file(text, name)), world);

  const org = (text: string) => `format: 1\norgs:\n  one:\n${text}`;

  it.each([
    ['is empty', '', 1, /\/format: must be 1/],
    ['has another format', 'format: 2', 1, /\/format: must be 1/],
    ['is not YAML', 'format: 1\norgs: {', 2, /not well-formed YAML/],
    ['names a thing twice', org('    description: a\n    description: b'), 5, /unique/],
    ['is a list', '- format: 1', 1, /must be an object$/],
    ['has two documents', 'format: 1\n---\nformat: 1', 2, /multiple documents/],
    ['has an unknown tag', 'format: 1\norgs: !secret x', 2, /Unresolved tag/],
    [
      'has an unknown member',
      'format: 1\norganizations: {}',
      2,
      /\/organizations: is not a known member; valid members: format, .*orgs/,
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
    ['has text where a record belongs', org('    workspaces:\n      w: hello'), 5, /\/w: must be an object$/],
    ['has a number for a text', org('    description: 5'), 4, /\/description: must be a string$/],
    ['has no value after properties', org('    properties:'), 4, /\/properties: must be an object$/],
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
      /combined with properties.code/,
    ],
    ['gives code to something else', org('    codeFile: seed.yaml'), 4, /for lambdas only/],
    [
      'names a thing twice in two ways',
      org('    groups:\n      a: {}\n      b: { name: a }'),
      6,
      /another of the groups is named 'a'/,
    ],
    [
      'has a scope that it does not hold',
      'format: 1\nscope: /one/two\norgs: { one: {} }',
      2,
      /\/scope: must be the path/,
    ],
    ['reaches for a prototype', org('    properties:\n      __proto__: {}'), 5, /'__proto__'/],
    ['is nested without end', `format: ${'['.repeat(30_000)}`, 1, /nested deeper than 100 levels/],
  ])('that %s is refused with its line', async (_case, text, line, reason) => {
    const at = await file(text);
    const error = await readSeed(at).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SeedError', file: at, line, message: expect.stringMatching(reason) });
    expect(error).toMatchObject({ message: expect.stringMatching(`^${at}:${line}: [^\n]*$`) });
  });

  it.each([
    ['an unknown name', '{users: [unknown]}', /users\/0: none of the users here and above is named 'unknown'/],
    ['a path to nowhere', '{users: [/one/unknown]}', /'\/one\/unknown' is not a path of users/],
    ['a path through nowhere', '{users: [/two/ann]}', /is not a path of/],
    ['a name of another type', '{users: [team]}', /none of the users/],
  ])('with %s is refused before anything is created', async (_case, properties, reason) => {
    await expect(apply(org(`    groups:\n      team:\n        properties: ${properties}`))).rejects.toThrow(reason);
    expect(world.created).toHaveLength(DEFAULT_PROVIDERS.length);
  });

  it('that grants permissions to an unknown identity is rejected before anything is created', async () => {
    const seed = org('    entitlements:\n      - actions: [org.view]\n        identities:\n          - unknown');
    await expect(apply(seed)).rejects.toThrow(
      /:7: \/orgs\/one\/entitlements\/0\/identities\/0: none of the groups or users/,
    );
    expect(world.created).toHaveLength(DEFAULT_PROVIDERS.length);
  });

  it('whose reference could mean two things is refused', async () => {
    const seed = `${org('    groups: { same: {} }\n    users: { same: { properties: { password: x } } }')}
    entitlements: [{ actions: [org.view], identities: [same] }]`;
    await expect(apply(seed)).rejects.toThrow(/'same' matches several groups or users/);
  });

  it('whose resources need each other first is refused', async () => {
    const linked = (other: string) => `{ resource_type: X, properties: { linked_providers: [{ id: ${other} }] } }`;
    await expect(apply(`format: 1\nproviders:\n  a: ${linked('b')}\n  b: ${linked('a')}`)).rejects.toThrow(
      /\/providers\/a: cannot be created/,
    );
  });

  it('that the platform rejects is reported with the line of the invalid member', async () => {
    await expect(apply(org('    properties:\n      env:\n        A: 5'))).rejects.toThrow(
      /seed\.yaml:6: \/orgs\/one\/properties\/env\/A: /,
    );
  });

  it('does not hide an internal error of the platform', async () => {
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
    await expect(readSeed(await file(`format: 1\n${levels.join('\n')}`))).rejects.toThrow(
      /:8: its aliases expand to more than 1000000/,
    );
    const many = `x: &x 1\ny: [${Array(1001).fill('*x')}]`;
    await expect(readSeed(await file(`format: 1\n${many}`))).rejects.toThrow(/:3: it has more than 1000 aliases/);
    const chain = Array.from({ length: 200 }, (_, index) => `x${index + 1}: &x${index + 1} [*x${index}]`);
    await expect(readSeed(await file(`format: 1\nx0: &x0 []\n${chain.join('\n')}`))).rejects.toThrow(
      /:102: its aliases nest deeper than 100 levels/,
    );
  });

  it('must be readable text', async () => {
    await expect(readSeed(pathOf('missing.yaml'))).rejects.toThrow(
      /missing\.yaml: the seed file cannot be read: ENOENT/,
    );
    await expect(readSeed(pathOf('.'))).rejects.toThrow(/cannot be read/);
    await expect(readSeed(await file(Buffer.from([0x66, 0xff])))).rejects.toThrow(/not UTF-8/);
  });
});
