// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a world file
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { PlainWorld } from '../../testing/plain-world.ts';
import { seedDirectory } from '../../testing/seed-directory.ts';
import { applySeed } from './apply-seed.ts';
import { readSeed, readSeedFileForApply } from './read-seed.ts';
import { readEnvFile } from './seed-variables.ts';

describe('a seed file', () => {
  let world: PlainWorld;
  beforeEach(() => {
    world = new PlainWorld();
  });
  const { file } = seedDirectory();
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

  it('may refer to a resource before its definition', async () => {
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

  it('resolves a reference: nearest name, path with escaped slash, id of a later resource', async () => {
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
                  outside: { properties: { resource: /x, implementation_type: container, implementation_id: ${world.rootId} } }
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
    expect(target('outside')).toMatchObject({ implementation_id: world.rootId });
  });

  it('can refer to existing resources', async () => {
    await apply('{format: 1, orgs: {one: {workspaces: {w: {}}}}}');
    const organizationId = world.at('orgs/one').id;
    const { id } = await world.create(organizationId, 'users', { name: 'ann', properties: { password: 'x' } });
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
    const id = (path: string) => world.at(path).id;
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

  it('changes nothing when it is applied again, even if its references form a circle', async () => {
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

  it.each(['file:.', './lambda', 'file:./lambda', 'file:../lambda'])(
    'reads the package_url %s of a lambda relative to the file',
    async (address) => {
      const at = await file(
        `{format: 1, orgs: {shop: {lambdas: {a: {properties: {code_type: package, package_url: '${address}'}}}}}}`,
      );
      const expected = pathToFileURL(path.resolve(path.dirname(at), address.replace('file:', ''))).href;
      const { document } = await readSeedFileForApply(at);
      expect(document).toMatchObject({
        orgs: { shop: { lambdas: { a: { properties: { package_url: expected } } } } },
      });
    },
  );

  const lambdaWith = (env: string, more = '') =>
    `format: 1\n${more}orgs:\n  shop:\n    lambdas:\n      a:\n        properties:\n          env: ${env}\n`;

  it('takes variables from the environment, from the .env beside it, or their defaults', async () => {
    await file('FROM_FILE="of the file"\nFROM_BOTH=of the file\n', '.env');
    const variables =
      "{ A: '${FROM_FILE}/x', B: '${FROM_BOTH}', C: '${ABSENT:-a default}', D: '${EMPTY:-used}', E: '$${KEPT}' }";
    const at = await file(lambdaWith(variables));
    const { document } = await readSeedFileForApply(at, { FROM_BOTH: 'of the environment', EMPTY: '' });
    const env = { A: 'of the file/x', B: 'of the environment', C: 'a default', D: 'used', E: '${KEPT}' };
    expect(document).toMatchObject({ orgs: { shop: { lambdas: { a: { properties: { env } } } } } });
  });

  it('reads the syntax of .env files alike under each version of Node.js', async () => {
    const lines = [
      '# A=0',
      'A=1 # one',
      '  # note',
      'B=2',
      'nothing',
      'C\t=\t"3 # \\n three"# end',
      "export  D='a",
      "  b\\n'",
    ];
    await file(['\uFEFF', ...lines, 'E=', 'F="f', 'G=a=b c ', 'H: h'].join('\r\n'), '.env');
    const at = await file(lambdaWith('{}'));
    const numbers = { A: '1', B: '2', C: '3 # \n three' };
    const texts = { D: 'a\n  b\\n', E: '', F: '"f', G: 'a=b c', H: 'h' };
    expect(await readEnvFile(path.dirname(at))).toEqual({ ...numbers, ...texts });
  });

  it.each(['${A:-${B}}', '${A:-$${B}}'])('rejects a variable in the default of another: %s', async (text) => {
    const at = await file(lambdaWith(`{ A: '${text}' }`));
    await expect(readSeed(at, { A: 'a', B: 'b' })).rejects.toThrow(
      `${at}:7: /orgs/shop/lambdas/a/properties/env/A: the default of A cannot contain a variable.`,
    );
  });

  it('names the line of a variable that is not set', async () => {
    const at = await file(lambdaWith("{ A: '${NOWHERE}' }"));
    await expect(readSeed(at, {})).rejects.toThrow(
      `${at}:7: /orgs/shop/lambdas/a/properties/env/A: the variable NOWHERE is not set.`,
    );
  });

  it('can name a folder by a variable', async () => {
    const at = await file('{format: 1, orgs: {s: {lambdas: {a: {properties: {package_url: "./${NAME}"}}}}}}');
    const { document } = await readSeedFileForApply(at, { NAME: 'code' });
    const address = pathToFileURL(path.join(path.dirname(at), 'code')).href;
    expect(document).toMatchObject({ orgs: { s: { lambdas: { a: { properties: { package_url: address } } } } } });
  });

  it('keeps texts like variables in code, and everywhere if it says so', async () => {
    const code = 'format: 1\norgs: { s: { lambdas: { a: { properties: { code: "`${name}`" } } } } }\n';
    expect((await readSeedFileForApply(await file(code), {})).document).toMatchObject({
      orgs: { s: { lambdas: { a: { properties: { code: '`${name}`' } } } } },
    });
    const at = await file(lambdaWith("{ A: '${NOWHERE}' }", 'replaceVariables: false\n'));
    expect((await readSeedFileForApply(at, {})).document).toMatchObject({
      orgs: { shop: { lambdas: { a: { properties: { env: { A: '${NOWHERE}' } } } } } },
    });
  });

  it('may be a folder with a world.yaml, beside which its code and variables are', async () => {
    await file('exports.run = 1;', 'hello.js');
    await file('ABOUT=from here', '.env');
    const lambdas = "{ hello: { codeFile: hello.js, description: '${ABOUT}' } }";
    const world = await file(`format: 1\norgs: { one: { lambdas: ${lambdas} } }`, 'world.yaml');
    const [folder, environment] = [path.dirname(world), {}];
    const [organization] = (await readSeed(folder, environment)).root.children;
    const code = Buffer.from('exports.run = 1;').toString('base64');
    expect(organization?.children).toMatchObject([{ record: { description: 'from here' }, properties: { code } }]);
    const { document, placeOf } = await readSeedFileForApply(folder, environment);
    expect(document).toEqual((await readSeedFileForApply(world, environment)).document);
    expect(placeOf('/orgs/one')).toBe(`${world}:2`);
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
});
