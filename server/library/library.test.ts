import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Terrarium } from './api.ts';
import { startEmulator } from './library.ts';

const CODE =
  "exports.run = (event, context, done) => done(null, [process.env.WORD, JSON.parse(event).payload].join(' '));";
const options = { containers: { engine: 'none' }, lambdas: { modules: '.' } };

let platform: Terrarium;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium library '));
  platform = await startEmulator(options);
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => platform.reset());

const asUser = (token: string, path: string) =>
  fetch(`${platform.metaUrl}${path}`, { headers: { Authorization: `Bearer ${token}` } });

describe('a platform in a test suite', () => {
  it('invokes a lambda by its name, its path and its id, and waits for the lead', async () => {
    const payload = { email: 'Ada@example.com', firstName: 'Ada' };
    const { outcome, lambdaId, logs } = await platform.invoke('contact-form', { payload });
    expect(outcome).toEqual({ ok: true, result: 'SUCCESS' });
    expect(logs.map(({ text }) => text)).toContain('CRM answered 200');
    expect(await platform.leads.waitFor({ email: 'ada@EXAMPLE.com' })).toMatchObject({ mapped: payload });
    expect(await platform.invoke(lambdaId, { payload })).toMatchObject({ outcome: { ok: true } });
    await platform.invoke('/demo/website/development/contact-form', { payload });
    expect(await platform.invocations.list({ lambda: 'contact-form', ok: true })).toHaveLength(3);
    expect(await platform.invocations.find({ trigger: 'manual' })).toMatchObject({
      outbound: [{ caughtBy: 'crm', status: 200 }],
    });
    expect(await platform.invocations.find({ ok: false })).toBeUndefined();
    expect(await platform.leads.clear()).toBe(3);
  });

  it('keeps the lead and the mails that a lambda sends for a form, by each port of mail servers', async () => {
    const code = `const { createTransport } = require('nodemailer');
      exports.run = async (event) => {
        const { email } = JSON.parse(event).payload;
        const form = new URLSearchParams({ oid: '1', email });
        await fetch('https://crm.example/servlet/servlet.WebToLead', { method: 'POST', body: form });
        // An address, because tests look up no names outside this machine.
        const server = { host: '192.0.2.25', tls: { servername: 'smtp.example.com' }, auth: { user: 'shop', pass: 'secret' } };
        const mail = { from: 'shop@example.com', to: email, text: 'Welcome' };
        const startsTls = createTransport({ ...server, port: 587, requireTLS: true });
        await startsTls.sendMail({ ...mail, subject: 'STARTTLS' });
        const tls = createTransport({ ...server, port: 465, secure: true });
        await tls.sendMail({ ...mail, subject: 'TLS' });
      }`;
    await platform.deploy('/demo/website/test/sign-up', { code, env: { CRM_API_BASEPATH: 'https://crm.example' } });
    const { outcome, executionId, outbound } = await platform.invoke('sign-up', {
      payload: { email: 'ada@example.com' },
    });
    expect(outcome).toEqual({ ok: true });
    expect(outbound).toMatchObject([
      { caughtBy: 'crm', status: 200 },
      { caughtBy: 'mail', url: 'tcp://192.0.2.25:587' },
      { caughtBy: 'mail', url: 'tls://smtp.example.com:465' },
    ]);
    expect(await platform.leads.waitFor({ email: 'ada@example.com' })).toMatchObject({ executionId });
    expect(await platform.mails.waitFor({ to: 'ADA@example.com', subject: 'tls' })).toMatchObject({
      executionId,
      text: 'Welcome\n',
      from: [{ address: 'shop@example.com' }],
    });
    const mails = await platform.mails.list({ since: new Date(0) });
    expect(mails.map(({ subject }) => subject)).toEqual(['STARTTLS', 'TLS']);
    expect(mails.every((mail) => mail.executionId === executionId)).toBe(true);
    await expect(platform.mails.waitFor({ to: 'eve@example.com' }, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'no mail to eve@example.com came within 1 ms',
    });
    expect(await platform.mails.clear()).toBe(2);
  });

  it('removes mails at a reset', async () => {
    const code = `exports.run = () => require('nodemailer').createTransport({ host: 'smtp.missing.invalid', port: 2525 })
      .sendMail({ from: 'a@example.com', to: 'b@example.com' }).then(() => 'sent')`;
    await platform.deploy('/demo/website/test/mailer', { code });
    expect((await platform.invoke('mailer')).outcome).toEqual({ ok: true, result: 'sent' });
    expect(await platform.mails.list()).toHaveLength(1);
    await platform.reset();
    expect(await platform.mails.list()).toEqual([]);
  });

  it('adds, lists and removes rules for outbound calls', async () => {
    await platform.outbound.once('crm', { status: 503, body: { busy: true } });
    await platform.outbound.add({ host: 'x.example', action: 'block' });
    expect((await platform.outbound.list()).map(({ host }) => host)).toEqual(['x.example', '{crm}']);
    expect((await platform.invoke('contact-form', { payload: {} })).outbound).toMatchObject([{ status: 503 }]);
    expect((await platform.invoke('contact-form', { payload: {} })).outbound).toMatchObject([{ status: 200 }]);
    await platform.outbound.clear();
    expect(await platform.outbound.list()).toEqual([]);
    const wrong = platform.outbound.add({ host: 'a', action: 'fail' });
    await expect(wrong).rejects.toMatchObject({ code: 'REFUSED', status: 400 });
    await platform.leads.clear();
  });

  it('answers calls in the order in which their answers were added, even at the same time', async () => {
    const statuses = [500, 502, 503, 504];
    const { outbound } = platform;
    await outbound.add({ host: '*', action: 'block' });
    await Promise.all(statuses.map((status) => outbound.once('crm', { status })));
    await Promise.all(['a.example', 'b.example'].map((host) => outbound.add({ host, action: 'block' })));
    const call = async () => (await platform.invoke('contact-form', { payload: {} })).outbound[0]?.status;
    for (const status of statuses) expect(await call()).toBe(status);
    await outbound.once('crm', { status: 429 });
    expect(await call()).toBe(429);
    expect(await call()).toBeUndefined();
    expect((await outbound.list()).map(({ action }) => action).filter((action) => action === 'block')).toHaveLength(3);
  });

  it('rejects arguments of another type with a sentence', async () => {
    await expect(platform.request('GET', 'meta/orgs')).rejects.toThrow(
      "the path of a request begins with '/'; not 'meta/orgs'",
    );
    // @ts-expect-error: the name of a lambda is missing
    await expect(platform.invoke()).rejects.toThrow('the name, path or id of a lambda must be a text');
  });

  it('blocks calls to hosts outside this machine until a rule lets them pass, and calls to this machine never', async () => {
    const server = createServer((socket) => socket.end('answer'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    const code = `exports.run = (event) => new Promise((resolve) => {
      const here = (name, options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
      const socket = require('net').connect({ host: JSON.parse(event), port: ${port}, lookup: here });
      socket.on('error', (error) => resolve(error.message)).on('data', (bytes) => resolve(String(bytes)));
    })`;
    await platform.deploy('/demo/website/development/caller', { code });
    const call = (host: string) => platform.invoke('caller', host);
    expect(await call('localhost')).toMatchObject({ outcome: { result: 'answer' } });
    const blocked = await call('api.example.com');
    const reason = expect.stringContaining('{ "host": "api.example.com", "action": "pass" }');
    expect(blocked).toMatchObject({ outcome: { result: reason }, outbound: [{ blocked: true, error: reason }] });
    await platform.outbound.add({ host: 'api.example.com', action: 'pass' });
    expect(await call('api.example.com')).toMatchObject({
      outcome: { result: 'answer' },
      outbound: [{ method: 'TCP', leftMachine: true, connection: { host: 'api.example.com', port, receivedBytes: 6 } }],
    });
    await using passing = await startEmulator({ ...options, seed: 'empty', outbound: { default: 'pass' } });
    await passing.deploy('caller', { code });
    expect(await passing.invoke('caller', 'api.example.com')).toMatchObject({ outcome: { result: 'answer' } });
  });

  it('resolves a wait for a lead when it arrives', async () => {
    const waiting = platform.leads.waitFor({ since: new Date() });
    await platform.invoke('contact-form', { payload: { email: 'late@example.com' } });
    expect(await waiting).toMatchObject({ mapped: { email: 'late@example.com' } });
  });

  it('issues tokens and keys that the platform accepts', async () => {
    expect((await asUser(await platform.token(), '/orgs')).status).toBe(200);
    const { key, secret } = await platform.apiKey('ada.byrne');
    const Authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
    const { status } = await fetch(`${platform.metaUrl}/demo`, { headers: { Authorization } });
    expect(status).toBe(200);
    expect((await asUser(await platform.token('milo.tanaka'), '/root/users')).status).toBe(200);
  });

  it('deploys code behind an endpoint, then replaces the code', async () => {
    const source = { code: CODE, env: { WORD: 'hello' }, endpoint: 'greet' };
    const { url, path, id } = await platform.deploy('/demo/website/development/greeter', source);
    const call = async () => (await fetch(`${url}`, { method: 'POST', body: '{"payload": "you"}' })).text();
    expect(path).toBe('/demo/website/development/greeter');
    expect(await call()).toBe('hello you');
    const again = await platform.deploy(path, { ...source, env: { WORD: 'good bye' } });
    expect(again).toEqual({ id, path, url });
    expect(await call()).toBe('good bye you');
  });

  it('deploys a folder with its files, and creates missing parents', async () => {
    const lambda = join(folder, 'a lambda');
    await mkdir(lambda, { recursive: true });
    await writeFile(join(lambda, 'package.json'), '{"main": "./main.js"}');
    await writeFile(join(lambda, 'main.js'), "exports.run = (e, c, done) => done(null, require('./part.js'));");
    await writeFile(join(lambda, 'part.js'), "module.exports = 'first';");
    const { path } = await platform.deploy('/shop/team/orders/test/parts', { folder: lambda });
    expect((await platform.invoke(path)).outcome).toEqual({ ok: true, result: 'first' });
    await writeFile(join(lambda, 'part.js'), "module.exports = 'the second';");
    await platform.deploy(path, { folder: lambda });
    expect((await platform.invoke('parts')).outcome).toEqual({ ok: true, result: 'the second' });
  });

  it.each([
    ['"src/"', 'src/index.js'],
    ['"./src/lead"', 'src/lead.ts'],
    ['""', 'index.js'],
  ])('deploys the file that main in package.json means to Node.js: %s', async (main, file) => {
    const lambda = await mkdtemp(join(folder, 'main '));
    await mkdir(join(lambda, 'src'));
    await writeFile(join(lambda, 'package.json'), `\uFEFF{"main": ${main}}`);
    await writeFile(join(lambda, file), "exports.run = (e, c, done) => done(null, 'the main file');");
    await platform.deploy('/shop/test/main', { folder: lambda });
    expect((await platform.invoke('main')).outcome).toEqual({ ok: true, result: 'the main file' });
  });

  it('sets other properties of a lambda and its endpoint', async () => {
    const code = "exports.handler = async () => ({ statusCode: 201, headers: { 'x-of': 'mine' }, body: 'made' });";
    const endpoint = { resource: 'aware', is_http_aware: true, methods: ['GET'] };
    const { id, url } = await platform.deploy('/a/b/aware', {
      code,
      endpoint,
      properties: { memory: 64, handler: 'handler' },
    });
    const lambda = await asUser(await platform.token(), `/root/lambdas/${id}`);
    expect(await lambda.json()).toMatchObject({ properties: { memory: 64 } });
    const answer = await fetch(`${url}`);
    expect((await fetch(`${url}`, { method: 'PUT' })).status).toBe(405);
    expect([answer.status, answer.headers.get('x-of'), await answer.text()]).toEqual([201, 'mine', 'made']);
  });

  it('resets resources, leads, recorded invocations, logs and the mock GitLab', async () => {
    const before = await platform.token();
    await platform.invoke('contact-form', { payload: { email: 'gone@example.com' } });
    const { id } = await platform.deploy('/demo/website/development/gone', { code: CODE });
    const scm = (path: string, init?: RequestInit) =>
      fetch(`${platform.scmUrl}/api/v4${path}`, { ...init, headers: { 'PRIVATE-TOKEN': platform.scmToken } });
    await scm('/projects?name=gone', { method: 'POST' });
    const [form] = (await (await asUser(before, '/demo/lambdas?name=contact-form')).json()) as { id: string }[];
    await platform.reset();
    await expect(platform.invoke('gone')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await asUser(before, `/demo/lambdas/${id}`)).status).toBe(404);
    expect(await platform.leads.list()).toEqual([]);
    expect(await platform.invocations.list()).toEqual([]);
    expect(JSON.stringify(await (await scm('/projects')).json())).not.toContain('gone');
    const log = await fetch(`${platform.baseUrl}/log/lambda/${form?.id}`, {
      headers: { Authorization: `Bearer ${before}` },
    });
    expect(await log.text()).not.toContain('CRM answered');
    const { outcome } = await platform.invoke('contact-form', { payload: { email: 'new@example.com' } });
    expect(outcome.ok).toBe(true);
  });
});

describe('a test that goes wrong', () => {
  const fails =
    "exports.run = () => { console.log('no email in the payload'); throw new Error('email is required'); };";

  it('learns from a wait for a lead what failed before', async () => {
    await platform.deploy('/demo/website/test/failing', { code: fails });
    await platform.invoke('failing');
    const message = await platform.leads.waitFor({ email: 'a@b.c' }, { timeoutMs: 1 }).catch((error) => error.message);
    expect(message).toMatch(
      /^no lead of a@b.c came within 1 ms. Before that:\n {2}failing failed \(error\): email is required\n {4}no email in the payload\n {4}at exports.run \(.*index.js:1:69\)$/,
    );
  });

  it('learns which form the mock CRM rejected', async () => {
    const code = `exports.run = async () => (await fetch('https://crm.example/servlet/servlet.WebToLead', {
      method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'no form' })).status;`;
    await platform.deploy('/demo/website/test/rejected', { code, env: { CRM_API_BASEPATH: 'crm.example' } });
    expect((await platform.invoke('rejected')).outcome).toEqual({ ok: true, result: 415 });
    await expect(platform.invocations.waitFor({ ok: false }, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringMatching(
        /^no invocation matched .*"ok":false.* within 1 ms. Before that:\n {2}the mock CRM rejected a form: /,
      ),
    });
  });

  it('is notified of each invocation with its log', async () => {
    const lines: string[] = [];
    await using scoped = await startEmulator(
      { ...options, seed: 'empty' },
      { onInvocation: ({ lambdaName, logs }) => lines.push(...logs.map(({ text }) => `${lambdaName}: ${text}`)) },
    );
    await scoped.deploy('failing', { code: fails });
    await scoped.invoke('failing');
    expect(lines).toContain('failing: no email in the payload');
    expect((await scoped.logs('failing')).map(({ text }) => text)).toContain('no email in the payload');
  });

  it('prints no warning when it makes many calls at once', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const tokens = await Promise.all(Array.from({ length: 14 }, () => platform.request('GET', '/meta/orgs')));
    expect(new Set(tokens.map(({ status }) => status))).toEqual(new Set([200]));
    expect(warnings).toEqual([]);
  });
});

describe('a platform whose beginning a test suite chooses', () => {
  it('comes back to its baseline, and keeps the processes of lambdas warm', async () => {
    await using scoped = await startEmulator({ ...options, seed: 'empty' });
    await scoped.deploy('/shop/test/greet', {
      code: CODE,
      env: { WORD: 'hi', NOTHING: undefined },
      endpoint: '/greet',
    });
    await scoped.invoke('greet', { payload: 1 });
    await scoped.baseline();
    await scoped.deploy('/shop/test/greet', { code: CODE, env: { WORD: 'bye' } });
    await scoped.deploy('/shop/test/other', { code: CODE });
    await scoped.reset();
    await expect(scoped.invoke('other')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await scoped.invoke('greet', { payload: 2 });
    await scoped.reset();
    expect(await scoped.invoke('greet', { payload: 3 })).toMatchObject({ cold: false, outcome: { result: 'hi 3' } });
  });

  it('applies a world file and an object, and says what changed', async () => {
    await using scoped = await startEmulator({ ...options, seed: 'empty' });
    const file = join(folder, 'applied.yaml');
    await writeFile(file, 'format: 1\norgs:\n  shop: {}\n');
    expect(await scoped.apply(file)).toMatchObject({ summary: { create: 1 }, commit: expect.any(Number) });
    expect((await scoped.apply({ format: 1, orgs: { shop: {} } })).summary).toMatchObject({ create: 0, update: 0 });
    await expect(scoped.apply(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'SEED' });
    await expect(scoped.apply({ format: 1, orgs: 7 })).rejects.toMatchObject({ code: 'REFUSED' });
    const orgs = await scoped.request('GET', '/meta/orgs');
    expect(orgs).toMatchObject({
      status: 200,
      body: expect.arrayContaining([expect.objectContaining({ name: 'shop' })]),
    });
    expect(await scoped.request('POST', '/meta/root', { nam: 1 })).toMatchObject({ status: 400 });
  });

  it('waits for an invocation that a client starts', async () => {
    const { url } = await platform.deploy('/demo/website/test/later', { code: CODE, endpoint: '/later' });
    const waiting = platform.invocations.waitFor({ lambda: 'later' });
    await fetch(url, { method: 'POST', body: '{"payload": "x"}' });
    const { trigger, event, request } = await waiting;
    expect({ trigger, text: event.body.text, status: request?.status }).toEqual({
      trigger: 'gateway',
      text: '{"payload": "x"}',
      status: 200,
    });
  });
});

async function damagedFolder(): Promise<string> {
  const data = join(folder, 'damaged');
  await mkdir(join(data, 'scm-token.json'), { recursive: true });
  return data;
}

describe('the code of an error', () => {
  it.each([
    ['not_found', () => platform.invoke('nowhere')],
    ['not_found', () => platform.token('unknown')],
    ['invalid_body', () => platform.deploy('/a/b/c', { code: CODE, timeoutS: -1 })],
    [
      'invalid_body',
      () => {
        const lambdas = { a: { properties: { memory: 'much' } } };
        return startEmulator({ ...options, seed: { format: 1, orgs: { b: { lambdas } } } });
      },
    ],
  ])('comes with the reason %s of the REST API', async (reason, act) => {
    await expect(act()).rejects.toMatchObject({ reason });
  });

  it.each([
    ['an invalid setting', () => startEmulator({ basePort: 1e9 }), 'SETTING', /basePort is 1000000000/],
    ['a missing seed', () => startEmulator({ seed: join(folder, 'none.yaml') }), 'SEED', /cannot be read/],
    ['an invalid seed', () => startEmulator({ seed: { format: 1, lambdas: 7 } }), 'SEED', /lambdas/],
    [
      'a damaged data folder',
      async () => startEmulator({ ...options, data: await damagedFolder() }),
      'DATA',
      /scm-token\.json: cannot be read/,
    ],
    ['a port in use', () => startEmulator({ ...options, basePort: portOf(platform) }), 'EADDRINUSE', /in use/],
    ['an unknown user', () => platform.token('unknown'), 'NOT_FOUND', /'unknown'/],
    ['an unknown lambda', () => platform.invoke('/nowhere/at/all'), 'NOT_FOUND', /\/nowhere\/at\/all' not found$/],
    [
      'a misspelled lambda',
      () => platform.invoke('contactform'),
      'NOT_FOUND',
      /'contactform' not found; the nearest is \/demo\/website\/\w+\/contact-form$/,
    ],
    ['a path without its slash', () => platform.deploy('a/b/c', { code: CODE }), 'REFUSED', /give '\/a\/b\/c'/],
    ['a missing folder', () => platform.deploy('/a/b/c', { folder: join(folder, 'none') }), 'NOT_FOUND', /none/],
    [
      'a name without a path',
      () => platform.deploy('orders', { code: CODE }),
      'AMBIGUOUS',
      /which of the 6 environments/,
    ],
    [
      'a request that the platform rejects',
      () => platform.deploy('/a/b/c', { code: CODE, timeoutS: -1 }),
      'REFUSED',
      /timeout/,
    ],
    // `as never`: simulates callers without types.
    [
      'text instead of options',
      () => startEmulator('demo' as never),
      'SETTING',
      /the options must be an object, such as \{ seed: 'demo' \}$/,
    ],
    [
      'a misspelled hook',
      () => startEmulator(options, { onInvokation() {} } as never),
      'REFUSED',
      /^startEmulator: 'onInvokation' .* 'onInvocation'\?$/,
    ],
    [
      'a misspelled option of a lambda',
      () => platform.deploy('/a/b/c', { code: CODE, timeout: 3 } as never),
      'REFUSED',
      /^deploy: 'timeout' .* 'timeoutS'\?$/,
    ],
    [
      'an endpoint without a path',
      () => platform.deploy('/a/b/c', { code: CODE, endpoint: {} as never }),
      'REFUSED',
      /^deploy: endpoint must be a path/,
    ],
    [
      'an invalid time',
      () => platform.leads.list({ since: new Date('?') }),
      'REFUSED',
      /^leads.list: since must be a valid Date/,
    ],
    [
      'code and folder',
      () => platform.deploy('/a/b/c', { code: CODE, folder } as never),
      'REFUSED',
      /either 'code' or 'folder'/,
    ],
    ['neither of them', () => platform.deploy('/a/b/c', {} as never), 'REFUSED', /either 'code' or 'folder'/],
    [
      'an unknown property',
      () => platform.deploy('/a/b/c', { code: CODE, properties: { memori: 3 } }),
      'REFUSED',
      /memori/,
    ],
    [
      'a misspelled filter of leads',
      () => platform.leads.list({ mail: 'a@b.c' } as never),
      'REFUSED',
      /^leads.list: 'mail' .* 'email'\?$/,
    ],
    [
      'a filter for a wait',
      () => platform.leads.waitFor({ timeoutMs: 9 } as never),
      'REFUSED',
      /^leads.waitFor: .* email, since$/,
    ],
    [
      'a filter of invocations',
      () => platform.invocations.find({ failed: true } as never),
      'REFUSED',
      /lambda, ok, trigger$/,
    ],
    [
      'an unknown trigger',
      () => platform.invocations.list({ trigger: 'cron' } as never),
      'REFUSED',
      /^invocations.list: trigger must be one of/,
    ],
    ['a timeout', () => platform.leads.waitFor({}, { timeoutMs: 1 }), 'TIMEOUT', /no lead came/],
  ])('%s', async (_what, work, code, message) => {
    await expect(work()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('is AMBIGUOUS for a name that two lambdas have', async () => {
    await platform.deploy('/demo/website/test/contact-form', { code: CODE });
    const both = /\/demo\/website\/development\/contact-form, \/demo\/website\/test\/contact-form/;
    await expect(platform.invoke('contact-form')).rejects.toMatchObject({
      code: 'AMBIGUOUS',
      message: expect.stringMatching(both),
    });
  });
});

it('sends mails to their servers if it is configured to', async () => {
  await using scoped = await startEmulator({ ...options, seed: 'empty', outbound: { mail: 'pass' } });
  const code = `exports.run = () => new Promise((resolve) =>
    require('net').connect(587, '192.0.2.25').on('error', ({ message }) => resolve(message)))`;
  await scoped.deploy('mailer', { code });
  const { outcome, outbound } = await scoped.invoke('mailer');
  // Nothing catches it, and the policy of the library refuses it.
  expect(outcome.result).toMatch(/^connect ECONNREFUSED 192[.]0[.]2[.]25:587 .*outbound[.]default/);
  expect(outbound).toMatchObject([{ blocked: true, url: 'tcp://192.0.2.25:587' }]);
});

it('starts from a seed object, stops at the end of a block, and then rejects calls', async () => {
  const workspaces = { shop: { environments: { test: { properties: { environment_type: 'test' } } } } };
  let stopped: Terrarium;
  {
    await using scoped = await startEmulator({ ...options, seed: { format: 1, workspaces } });
    stopped = scoped;
    const { path, url } = await scoped.deploy('only', { code: CODE, env: { WORD: 'hi' }, endpoint: '/only' });
    expect(path).toBe('/shop/test/only');
    expect(await (await fetch(`${url}`, { method: 'POST', body: '{"payload": 1}' })).text()).toBe('hi 1');
    await scoped.reset();
    await expect(scoped.invoke('only')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  await expect(stopped.invoke('only')).rejects.toMatchObject({ code: 'STOPPED' });
});

it.each([2020, 2050])('catches leads while a test fakes the date as the year %i', async (year) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(year, 6) });
  onTestFinished(() => void vi.useRealTimers());
  await using scoped = await startEmulator(options);
  const { outcome } = await scoped.invoke('contact-form', { payload: { email: 'ada@example.com' } });
  expect(outcome).toEqual({ ok: true, result: 'SUCCESS' });
  expect(await scoped.leads.waitFor({ since: new Date() })).toMatchObject({ mapped: { email: 'ada@example.com' } });
});

it('starts with the outbound rules of a world file, and restores them', async () => {
  await writeFile(join(folder, 'captcha.json'), '{"success":true}');
  const seed = join(folder, 'rules.yaml');
  const rule = '{ host: captcha.example, action: answer, file: captcha.json, times: 2 }';
  await writeFile(seed, `format: 1\noutbound:\n  - ${rule}\n  - { host: "*", action: block }\n`);
  await using empty = await startEmulator({ ...options, seed });
  const code = "exports.run = async () => (await fetch('http://captcha.example')).text();";
  await empty.deploy('caller', { code });
  expect((await empty.invoke('caller')).outcome).toMatchObject({ result: '{"success":true}' });
  await empty.outbound.clear();
  await empty.reset();
  const [first, second] = await empty.outbound.list();
  expect(first).toMatchObject({ action: 'answer', file: join(folder, 'captcha.json'), times: 2, enabled: true });
  expect(second).toMatchObject({ host: '*', action: 'block' });
});

it('deploys a lambda to a new environment if the world has none', async () => {
  await using empty = await startEmulator({ ...options, seed: 'empty' });
  expect(await empty.deploy('first', { code: CODE })).toMatchObject({ path: '/local/test/first' });
});

function portOf({ baseUrl }: Terrarium): number {
  return Number(new URL(baseUrl).port);
}
