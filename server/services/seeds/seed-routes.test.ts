// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a world file
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { basic, bearer, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform({ seed: 'demo' });
let auth: string;
beforeAll(async () => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  auth = basic(apiKey, apiSecret);
});

const YAML = 'application/yaml';
const inspect = (path: string) => `${platform.emulator.baseUrl}/inspect${path}`;
const apply = (body: string, query = '', type = YAML) =>
  send('POST', inspect(`/apply${query}`), { auth, body, headers: { 'Content-Type': type } });
const exported = (query = '', headers: Record<string, string> = {}) =>
  send('GET', inspect(`/export${query}`), { auth, headers });

/** A document in which each list contains the one before. */
function aliasChain(length: number): string {
  const lists = Array.from({ length }, (_, index) => `x${index + 1}: &x${index + 1} [*x${index}]`);
  return `format: 1\nx0: &x0 []\n${lists.join('\n')}`;
}

describe('a document that is made to exhaust the platform', () => {
  it.each([
    ['deep YAML lists', YAML, () => '['.repeat(5_000_000), 'nested deeper than 100 levels'],
    ['deep YAML maps', YAML, () => '? '.repeat(1_000_000), 'nested deeper than 100 levels'],
    ['many YAML values', YAML, () => `[${'a,'.repeat(1_500_000)}]`, 'more than 2000000 words'],
    ['many YAML errors', YAML, () => ']'.repeat(1_000_000), 'not well-formed YAML in more than 10 places'],
    ['deep JSON', 'application/json', () => '['.repeat(5_000_000), 'nested deeper than 100 levels'],
    ['many JSON values', 'application/json', () => `[${'0,'.repeat(1_500_000)}0]`, 'more than 1000000 members'],
  ])('is refused before it is parsed: %s', async (_what, type, document, reason) => {
    const { status, body } = await apply(document(), '', type);
    expect({ status, message: body.message }).toEqual({ status: 400, message: expect.stringContaining(reason) });
    expect((await exported()).status).toBe(200);
  });
});

describe('GET {base_url}/inspect/export', () => {
  it('gives YAML, or JSON to who prefers that, each time the same', async () => {
    const yaml = await exported();
    expect(yaml.status).toBe(200);
    expect(yaml.headers.get('content-type')).toMatch(/^application\/yaml/);
    expect(yaml.headers.get('vary')).toContain('Accept');
    expect((await exported()).body).toBe(yaml.body);
    const json = await exported('', { Accept: 'application/json' });
    expect(json.headers.get('content-type')).toMatch(/^application\/json/);
    expect(json.body).toEqual(parse(yaml.body));
    expect(json.body).toMatchObject({ format: 1, orgs: { demo: { description: 'Fern & Moss' } } });
  });

  it('gives one organization', async () => {
    const { body } = await exported('?scope=/demo');
    expect(parse(body)).toMatchObject({ scope: '/demo', orgs: { demo: {} } });
    expect(parse(body).users).toEqual({ 'ada.byrne': {}, 'ci-service': {}, 'milo.tanaka': {} });
  });

  it.each([
    ['?scope=/nowhere', 404],
    ['?scope=demo', 400],
    ['?scope=/demo&scope=/demo', 400],
    ['?scop=/demo', 400],
  ])('%s is %i', async (query, status) => {
    expect(await exported(query)).toMatchObject(refusal(status));
  });
});

describe('a document that is sent', () => {
  it('reads no variables of the platform, and no folder relative to it', async () => {
    const lambda = (properties: string) =>
      `format: 1\norgs: { sent: { lambdas: { l: { properties: { provider: { id: default-lambda }, runtime: nodejs, handler: run, ${properties} } } } } }`;
    expect((await apply(lambda("code_type: inline, code: x, env: { A: '${PATH}' }"))).status).toBe(200);
    const { lambdas } = (await exported('?scope=/sent', { Accept: 'application/json' })).body.orgs.sent;
    expect(lambdas.l.properties.env).toEqual({ A: '${PATH}' });
    const { status, body } = await apply(lambda('code_type: package, package_url: ./lambda'));
    expect([status, body.message]).toEqual([400, expect.stringContaining('must be an http, https or file URL')]);
  });
});

describe('the outbound rules of a seed', () => {
  const rules = async () => (await send('GET', inspect('/outbound'), { auth })).body.rules;
  const document = 'format: 1\noutbound: [{ host: captcha.example, action: answer, body: { success: true } }]';

  it('replace the present rules unless they are the same, and are exported', async () => {
    const outbound = ['answer with 200 for captcha.example'];
    expect((await apply(document, '?dryRun=true')).body).toMatchObject({ outbound });
    expect(await rules()).toEqual([]);
    expect((await apply(document)).body).toMatchObject({ outbound });
    const applied = await rules();
    expect(applied).toMatchObject([{ host: 'captcha.example', action: 'answer', body: { success: true } }]);
    expect((await apply(document)).body).not.toHaveProperty('outbound');
    expect(await rules()).toEqual(applied);
    await apply('format: 1');
    expect(await rules()).toEqual(applied);
    const { outbound: written } = (await exported('', { Accept: 'application/json' })).body;
    expect(written).toEqual([{ host: 'captcha.example', action: 'answer', body: { success: true }, enabled: true }]);
    expect((await exported('?scope=/demo', { Accept: 'application/json' })).body).not.toHaveProperty('outbound');
    expect((await apply('format: 1\noutbound: []')).body).toMatchObject({ outbound: [] });
    expect(await rules()).toEqual([]);
  });

  it('are rejected with the line of an invalid rule', async () => {
    const { status, body } = await apply('format: 1\noutbound:\n  - { host: a, action: answer, file: b.json }');
    expect([status, body.reason, body.message]).toEqual([
      400,
      'invalid_body',
      expect.stringMatching(/seed:3: .*absolute path/),
    ]);
  });
});

describe('POST {base_url}/inspect/apply', () => {
  it('applies YAML and JSON, and reports the changes', async () => {
    const seed = 'format: 1\norgs: { acme: { workspaces: { w: {} } } }\n';
    const plan = await apply(seed, '?dryRun=true');
    expect(plan).toMatchObject({ status: 200, body: { dryRun: true, summary: { create: 2, update: 0, delete: 0 } } });
    expect((await platform.root.get('/acme')).status).toBe(404);

    const done = await apply(seed);
    expect(done).toMatchObject({ status: 200, body: { dryRun: false, commit: expect.any(Number) } });
    const [workspace] = (await platform.root.get('/acme/workspaces')).body;
    expect(done.body.changes).toContainEqual({
      path: '/acme/w',
      type: 'workspaces',
      id: workspace.id,
      action: 'create',
      patch: [{ op: 'add', path: '', value: { name: 'w' } }],
    });
    const again = await apply(JSON.stringify(parse(seed)), '?prune=true', 'application/json; charset=utf-8');
    expect(again).toMatchObject({ status: 200, body: { summary: { create: 0, update: 0, delete: 0, unchanged: 3 } } });
    expect(again.body.commit).toBeUndefined();
  });

  it('lets lambdas that it changes answer at once', async () => {
    const { body } = await exported('?scope=/demo', { Accept: 'application/json' });
    const { lambdas } = body.orgs.demo.workspaces.website.environments.development;
    lambdas['order-status'].properties.code = "exports.run = async () => 'changed'";
    const applied = await apply(JSON.stringify(body), '', 'application/json');
    expect(applied.body.summary).toMatchObject({ create: 0, update: 1, delete: 0 });
    const answer = await send('GET', `${platform.emulator.gatewayUrl}/website/orders/1001`);
    expect(answer).toMatchObject({ status: 200, body: 'changed' });
  });

  it('says where in the document a fault is', async () => {
    const seed = 'format: 1\norgs:\n  acme:\n    properties:\n      env: { A: 5 }\n';
    const pointer = '/orgs/acme/properties/env/A';
    expect(await apply(seed)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^seed:5: \/orgs\/acme\/properties\/env\/A: /), details: [{ pointer }] },
    });
    const json = await apply(JSON.stringify(parse(seed)), '', 'application/json');
    expect(json).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^seed: \/orgs\/acme/), details: [{ pointer }] },
    });
    const conflictingSeed = 'format: 1\norgs: { acme: { users: { ada.byrne: { properties: { password: x } } } } }';
    expect(await apply(conflictingSeed)).toMatchObject(refusal(409, '/orgs/acme/users/ada.byrne'));
  });

  it('reads a long document as a short one, and says where in it a fault is', async () => {
    const comment = '# and so on\n'.repeat(10_000);
    const seed = (env: string) => `format: 1\norgs:\n  long:\n${comment}    properties:\n      env: { A: ${env} }\n`;
    expect(await apply(seed("'1'"))).toMatchObject({ status: 200, body: { summary: { create: 1, update: 0 } } });
    expect((await platform.root.get('/long')).body.properties.env).toEqual({ A: '1' });
    const refused = await apply(seed('5'));
    expect(refused).toMatchObject(refusal(400, '/orgs/long/properties/env/A'));
    expect(refused.body.message).toMatch(/^seed:10005: \/orgs\/long\/properties\/env\/A: /);
    expect(await apply(`${comment}format: 2`)).toMatchObject(refusal(400, '/format'));
    expect(await apply(`${comment}]`)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^seed:10001/) },
    });
    const conflictingSeed = `${comment}format: 1\norgs: { long: { users: { ada.byrne: { properties: { password: x } } } } }`;
    expect((await apply(conflictingSeed)).body.message).toMatch(/^seed:10002: /);
  });

  it.each([
    ['nothing', '', YAML, '', 400],
    ['another type', 'format: 1', 'text/plain', '', 415],
    ['no document', 'hello', YAML, '', 400],
    ['half a document', '{"format": 1', 'application/json', '', 400],
    ['another format', 'format: 2', YAML, '', 400],
    ['an alias bomb', `format: 1\nx: &x [1]\ny: [${Array(2000).fill('*x')}]`, YAML, '', 400],
    ['a chain of 3,000 aliases', aliasChain(3000), YAML, '', 400],
    ['a chain of aliases deeper than the limit of nesting', aliasChain(900), YAML, '', 400],
    [
      '900 aliases of a large list',
      `format: 1\norgs: { a: { properties: { x: &x [${'1,'.repeat(2_000)}], y: [${Array(900).fill('*x')}] } } }`,
      YAML,
      '',
      400,
    ],
    ['a file of the server', 'format: 1\norgs: { a: { lambdas: { l: { codeFile: /etc/hostname } } } }', YAML, '', 400],
    ['a mistyped parameter', 'format: 1', YAML, '?dryrun=true', 400],
    ['an unclear parameter', 'format: 1', YAML, '?dryRun=yes', 400],
  ])('refuses %s', async (_case, body, type, query, status) => {
    const reply = await apply(body, query, type);
    expect(reply).toMatchObject(refusal(status));
    expect(reply.body.message).not.toContain('    at ');
  });
});

describe('seeds are for root', () => {
  it('and for no other user', async () => {
    const passwordsReply = await send('GET', inspect('/access/passwords'), { auth });
    const { password } = passwordsReply.body.find(
      (account: { user: { name: string } }) => account.user.name === 'ada.byrne',
    );
    const issued = await send('POST', `${platform.emulator.securityUrl}/root/oauth/issue`, {
      body: new URLSearchParams({ grant_type: 'password', username: 'ada.byrne', password }),
    });
    for (const [method, path] of [
      ['GET', '/export'],
      ['POST', '/apply'],
    ] as const) {
      const unknown = await send(method, inspect(path));
      expect(unknown).toMatchObject(refusal(401));
      expect(unknown.headers.get('www-authenticate')).toMatch(/^Bearer /);
      expect(await send(method, inspect(path), { auth: bearer(issued.body.access_token) })).toMatchObject(refusal(403));
    }
  });
});
