import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, makeAccount, rootPairOf } from '../server/testing/account.ts';
import { type Authorization, basic, bearer, follow, send } from '../server/testing/checked-client.ts';
import { canBeOtherUser, runAsOtherUser } from '../server/testing/other-user.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../server/testing/tenant.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** More than any account of this test needs. */
const ATTEMPTS = 12;

let platform: Platform;
let root: ApiClient;
let acme: Tenant;
let make: ResourceFactory;
let rootPair: string;
let rootId: string;
/** Creates an endpoint that requires the permission to invoke it. */
let guarded: Body;

beforeAll(async () => {
  platform = await startPlatform({ limits: { tokenRequestsPerMinute: ATTEMPTS } });
  root = platform.root;
  make = resourceFactoryFor(root);
  acme = await createTenant(root, 'acme');
  rootPair = rootPairOf(platform);
  rootId = (await root.get('/root')).body.id;
  const plugins = { platformSecurity: { enabled: true } };
  guarded = await make.endpoint(await make.api(acme), await make.lambda(acme), { plugins });
});
afterAll(() => platform?.stop());

const security = (method: string, path: string, auth?: Authorization, body?: unknown) =>
  send(method, platform.emulator.securityUrl + path, { auth, body });
const login = (fqon: string, username: string, password?: string) => logIn(platform, fqon, username, password);

/** Creates an account that can call the protected endpoint. */
async function account(name: string, at?: string) {
  const createdAccount = await makeAccount(platform, name, at);
  await grant(root, `/acme/apiendpoints/${guarded.id}`, 'apiendpoint.invoke', createdAccount.id);
  return createdAccount;
}

/** Statuses on the resource service, the security service, the log route and the gateway. */
async function allStatuses(auth: Authorization): Promise<number[]> {
  const { metaUrl, securityUrl, baseUrl } = platform.emulator;
  const urls = [
    `${metaUrl}/users/self`,
    `${securityUrl}/accounts/self`,
    `${baseUrl}/log/lambda/${guarded.properties.implementation_id}`,
    guarded.properties.public_url,
  ];
  return (await Promise.all(urls.map((url) => send('GET', url, { auth })))).map(({ status }) => status);
}

describe('tokens and key pairs (D-170, D-172)', () => {
  it('are equally good on every service, with the scheme in any letter case', async () => {
    const credentials = await account('everywhere');
    const letterCases = [credentials.bearer.replace('Bearer', 'bEARER'), credentials.basic.replace('Basic', 'BASIC')];
    for (const auth of [credentials.bearer, credentials.basic, ...letterCases]) {
      expect(await allStatuses(auth)).toEqual([200, 200, 403, 200]);
    }
    for (const auth of [undefined, basic('everywhere', 'secret'), 'Digest x', 'Bearer', 'Basic !!']) {
      expect(await allStatuses(auth)).toEqual([401, 401, 401, 401]);
    }
  });

  it('come from a password in the organization of the account or one below, under any depth', async () => {
    await root.create('/acme', { name: 'dev' });
    await root.create('/acme.dev', { name: 'web' });
    await root.create('/acme/users', { name: 'middle', properties: { password: 'secret' } });
    for (const fqon of ['acme', 'acme.dev', 'acme.dev.web']) {
      const { status, headers, body } = await login(fqon, 'middle');
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          access_token: expect.stringMatching(UUID),
          token_type: 'bearer',
          expires_in: 28_800,
          platform_access_token_href: '',
        },
      });
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect((await login('root', 'middle')).body).toMatchObject({ error: 'invalid_grant', code: 400 });
    expect((await login('acme.dev.web', 'root')).status).toBe(200);
    expect((await login('acme.nowhere', 'middle')).status).toBe(404);
    const { id } = (await root.get('/acme.dev')).body;
    await root.patch(`/root/orgs/${id}`, [{ op: 'replace', path: '/name', value: 'lab' }]);
    expect((await login('acme.lab.web', 'middle')).status).toBe(200);
    expect((await login('acme.dev.web', 'middle')).status).toBe(404);
  });

  it('come from a key pair too, for the organization that is named or else that of the key', async () => {
    const { basic, id } = await account('machine', '/acme');
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    for (const path of ['/oauth/issue', '/acme/oauth/issue']) {
      const { body } = await security('POST', path, basic, form);
      const self = await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: bearer(body.access_token) });
      expect(self.body.id).toBe(id);
    }
    expect((await security('POST', '/root/oauth/issue', basic, form)).body.error).toBe('invalid_client');
  });

  it('follow the password: a patched one counts at once', async () => {
    const { id } = await root.create('/root/users', { name: 'forgetful', properties: { password: 'secret' } });
    await root.patch(`/root/users/${id}`, [{ op: 'replace', path: '/properties/password', value: 'better' }]);
    expect((await login('root', 'forgetful')).status).toBe(400);
    expect((await login('root', 'forgetful', 'better')).status).toBe(200);
  });
});

describe.runIf(canBeOtherUser && process.platform === 'linux')('another user of the machine', () => {
  it('cannot sign in with a password that everyone knows', async () => {
    const statuses = await runAsOtherUser(
      `(async () => {
        const sent = (username, password) => fetch(process.argv[1], {
          method: 'POST', body: new URLSearchParams({ grant_type: 'password', username, password }),
        });
        const known = [['root', 'terrarium'], ['root', 'root'], ['root', '']];
        console.log(JSON.stringify(await Promise.all(known.map(async (one) => (await sent(...one)).status))));
      })()`,
      `${platform.emulator.securityUrl}/root/oauth/issue`,
    );
    expect(JSON.parse(statuses)).toEqual([400, 400, 400]);
  });

  it('cannot attach to the debugger of a lambda', async () => {
    const { id } = await make.lambda(acme);
    const path = `${platform.emulator.baseUrl}/inspect/lambdas/${id}`;
    expect((await send('POST', `${path}/debug`, { auth: rootPair })).status).toBe(200);
    const state = async () => (await send('GET', `${path}/workbench`, { auth: rootPair })).body.debug;
    await expect.poll(async () => (await state()).url).toBeDefined();
    const { host, pathname } = new URL((await state()).url);
    const output = await runAsOtherUser(
      `(async () => {
        const [, host] = process.argv;
        const paths = ['/json', '/json/list', '/json/version', '/'];
        const texts = await Promise.all(paths.map(async (path) => (await fetch('http://' + host + path)).text()));
        const upgrade = await new Promise((resolve, reject) => require('http').get('http://' + host + '/', {
          headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
        }).on('response', ({ statusCode }) => resolve(statusCode)).on('upgrade', () => resolve(101)).on('error', () => resolve(0)));
        console.log(JSON.stringify({ texts, upgrade }));
      })()`,
      host,
    );
    expect(output).not.toContain(pathname.slice(1));
    expect(JSON.parse(output).upgrade).not.toBe(101);
    await send('DELETE', `${path}/debug`, { auth: rootPair });
  });
});

describe('guessing a password (D-171, D-185)', () => {
  it.runIf(canBeOtherUser && process.platform === 'linux')(
    'from many addresses, by another user of the machine, becomes slower, and the correct password is still accepted',
    async () => {
      await root.create('/root/users', { name: 'guessed', properties: { password: 'secret' } });
      const { port } = new URL(platform.emulator.baseUrl);
      const script = `
        const [, port] = process.argv;
        const guess = (localAddress, password) => new Promise((resolve, reject) => {
          const startedMs = performance.now();
          const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
          const request = require('http').request(
            { port, host: '127.0.0.1', localAddress, method: 'POST', path: '/security/root/oauth/issue', headers },
            (response) => response.resume().on('end', () => resolve([response.statusCode, performance.now() - startedMs])),
          );
          request.on('error', reject).end('grant_type=password&username=guessed&password=' + password);
        });
        (async () => {
          const answers = [];
          for (let at = 1; at <= 8; at++) answers.push(await guess('127.0.1.' + at, 'guess'));
          answers.push(await guess('127.0.2.1', 'secret'));
          console.log(JSON.stringify(answers));
        })();`;
      const answers: [number, number][] = JSON.parse(await runAsOtherUser(script, port));
      expect(answers.map(([status]) => status)).toEqual([...Array(8).fill(400), 200]);
      for (const [at, [, elapsedMs]] of answers.slice(0, 8).entries()) expect(elapsedMs).toBeGreaterThan(at * 50 - 5);
    },
  );

  it('ends with the attempts of the minute, also for who knows it then, and is nothing to others', async () => {
    await root.create('/root/users', { name: 'target', properties: { password: 'secret' } });
    const guesses = await Promise.all(Array.from({ length: ATTEMPTS }, () => login('root', 'target', 'guess')));
    for (const { body } of guesses) expect(body).toMatchObject({ error: 'invalid_grant', code: 400 });
    const { status, body, headers } = await login('root', 'target');
    const waitS = Number(headers.get('retry-after'));
    expect(waitS).toBeGreaterThan(0);
    expect({ status, body }).toEqual({
      status: 429,
      body: { error: 'invalid_grant', error_description: `too many failed attempts, wait ${waitS} seconds`, code: 429 },
    });
    expect((await login('root', 'root')).status).toBe(200);
    // The window's sign-in uses the same limit.
    const windowLogin = await send('POST', `${platform.emulator.baseUrl}/inspect/session`, {
      body: { username: 'target', password: 'secret' },
    });
    expect([windowLogin.status, Number(windowLogin.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(windowLogin.body.message).toContain('too many failed attempts, wait');
  });
});

describe('the end of an account (D-072, D-174, D-179)', () => {
  it('ends its tokens and keys on every service, and does not give them to the next of that name or id', async () => {
    const { id, bearer, basic } = await account('leaving');
    expect((await root.delete(`/root/users/${id}`)).status).toBe(204);
    const readStatuses = async () => [await allStatuses(bearer), await allStatuses(basic)];
    const refused = [401, 401, 401, 401];
    expect(await readStatuses()).toEqual([refused, refused]);
    await root.create('/root/users', { id, name: 'leaving', properties: { password: 'secret' } });
    expect(await readStatuses()).toEqual([refused, refused]);
    expect((await login('root', 'leaving')).status).toBe(200);
  });

  it('comes with its organization too', async () => {
    await root.create('/root', { name: 'startup' });
    const { bearer, basic } = await account('founder', '/startup');
    expect((await root.delete('/startup?force=true')).status).toBe(204);
    for (const auth of [bearer, basic]) expect(await allStatuses(auth)).toEqual([401, 401, 401, 401]);
  });

  it('is a pause when it is disabled: nothing works until it is enabled again', async () => {
    const { id, bearer, basic } = await account('paused');
    expect((await security('POST', `/accounts/${id}/disable`, bearer)).status).toBe(403);
    expect((await security('POST', `/accounts/${id}/disable`, rootPair)).status).toBe(200);
    for (const auth of [bearer, basic]) expect(await allStatuses(auth)).toEqual([401, 401, 401, 401]);
    expect((await login('root', 'paused')).body).toMatchObject({ error: 'invalid_grant', code: 400 });
    // A change of its record does not make it valid again.
    const named = [{ op: 'add', path: '/properties/firstName', value: 'Paul' }];
    expect((await root.patch(`/root/users/${id}`, named)).status).toBe(200);
    expect((await login('root', 'paused')).status).toBe(400);
    await security('POST', `/accounts/${id}/enable`, rootPair);
    for (const auth of [bearer, basic]) expect(await allStatuses(auth)).toEqual([200, 200, 403, 200]);
  });

  it('ends what it is following, before anything more is shown', async () => {
    const { id, bearer: authorization } = await account('watching');
    const { baseUrl } = platform.emulator;
    const code = 'exports.run = (event, context, callback) => { console.log("secret line"); callback(null, "done"); };';
    const lambda = await make.lambda(acme, { code });
    const log = `${baseUrl}/inspect/logs/${lambda.id}`;
    await grant(root, `/acme/lambdas/${lambda.id}`, 'lambda.view', id);
    const lines = await follow(`${log}/stream`, authorization);
    const { body: events } = await follow(`${baseUrl}/inspect/events`, authorization);
    const reader = events?.pipeThrough(new TextDecoderStream()).getReader();
    const nextEvents = async () => (await reader?.read())?.value;
    // Events are sent together: with the one of this change, those of earlier tests have been sent.
    await root.patch('/acme', [{ op: 'add', path: '/description', value: 'followed' }]);
    let chunk = await nextEvents();
    while (chunk !== undefined && !chunk.includes('event: world')) chunk = await nextEvents();
    expect(chunk).toBeDefined();
    await security('POST', `/accounts/${id}/disable`, rootPair);
    await send('POST', `${baseUrl}/inspect/lambdas/${lambda.id}/invoke`, { auth: rootPair });
    for (chunk = await nextEvents(); chunk !== undefined; chunk = await nextEvents())
      expect(chunk).not.toContain('event: invocations');
    expect(await lines.text()).not.toContain('secret line');
  });

  it('need not be the end of one to end a single token or key', async () => {
    const { bearer, basic, token, key } = await account('tidy');
    const other = await account('nosy');
    expect((await security('DELETE', `/apiKeys/${key}`, other.bearer)).status).toBe(403);
    expect((await security('DELETE', `/accessTokens/${token}`, other.bearer)).status).toBe(403);
    expect((await security('DELETE', `/apiKeys/${key}`, bearer)).body).toEqual({ wasDeleted: true });
    expect(await allStatuses(basic)).toEqual([401, 401, 401, 401]);
    expect((await security('DELETE', `/accessTokens/${token}`, bearer)).body).toEqual({ wasDeleted: true });
    expect(await allStatuses(bearer)).toEqual([401, 401, 401, 401]);
    expect((await security('DELETE', `/accessTokens/${token}`, rootPair)).body).toEqual({ wasDeleted: false });
  });
});

describe('POST /accounts/{id}/apiKeys (D-173)', () => {
  it('takes a key pair, and for the account of another the right to change it', async () => {
    const [boss, staff] = [await account('boss'), await account('staff')];
    const keys = `/accounts/${staff.id}/apiKeys`;
    for (const auth of [undefined, boss.bearer, staff.bearer]) {
      const refused = await security('POST', keys, auth, { orgId: rootId });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    }
    expect((await security('POST', keys, boss.basic, { orgId: rootId })).status).toBe(403);
    await grant(root, `/root/users/${staff.id}`, 'user.update', boss.id);
    const keyReply = await security('POST', keys, boss.basic, { orgId: rootId });
    expect(keyReply).toMatchObject({ status: 201, body: { accountId: staff.id, disabled: false } });
    expect(keyReply.body).toEqual({
      apiKey: expect.stringMatching(UUID),
      apiSecret: expect.stringMatching(/^\S{40}$/),
      accountId: staff.id,
      disabled: false,
    });
    expect((await security('POST', keys, boss.basic, {})).status).toBe(400);
    expect((await security('POST', keys, staff.basic)).status).toBe(201);
  });

  it('refuses an organization that the account cannot be used in', async () => {
    await root.create('/root', { name: 'elsewhere' });
    const { id } = await root.create('/acme/users', { name: 'local', properties: { password: 'secret' } });
    const elsewhere = (await root.get('/elsewhere')).body.id;
    for (const orgId of [elsewhere, rootId, rootPair]) {
      expect((await security('POST', `/accounts/${id}/apiKeys`, rootPair, { orgId })).status).toBe(400);
    }
  });
});

describe('the permissions of a token or caller (D-176, D-177)', () => {
  it('lists groups and permissions as on the resource service', async () => {
    const { id, token, bearer } = await account('inspected');
    const group = await make.group('/root', [id]);
    await grant(root, '/root', 'workspace.create', group.id);
    const form = new URLSearchParams({ token });
    const { body } = await security('POST', '/root/oauth/inspect', bearer, form);
    expect(body).toMatchObject({
      active: true,
      username: 'inspected',
      sub: `/accounts/${id}`,
      platform_org_id: rootId,
      platform_groups: [{ id: group.id, name: group.name }],
      platform_rights: ['workspace.create'],
    });
    expect(body.exp - body.iat).toBe(28_800);
    const auth = await security('POST', '/acme/auth', bearer);
    expect(auth.body).toMatchObject({ account: { id }, rights: ['workspace.create'], orgId: acme.organizationId });
    const workspaceReply = await send('POST', `${platform.emulator.metaUrl}/acme/workspaces`, {
      auth: bearer,
      body: { name: 'mine' },
    });
    expect(workspaceReply.status).toBe(201);
    await security('POST', `/accounts/${id}/disable`, rootPair);
    expect((await security('POST', '/oauth/inspect', rootPair, form)).body).toEqual({ active: false });
  });
});
