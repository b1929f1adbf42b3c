import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/** The code of a lambda that returns the variables that every lambda sees. */
const TELL_ENV = 'exports.run = () => process.env';

let service: TestLambdaService;
beforeAll(async () => {
  service = await TestLambdaService.start({
    hostEnv: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      NODE_OPTIONS: '--no-deprecation',
      NODE_EXTRA_CA_CERTS: '/nowhere',
      HOST_SECRET: 'of the host',
    },
  });
});
afterAll(() => service.stop());

describe('source', () => {
  it.each([
    ['exports.run', 'exports.run = (event) => event'],
    ['module.exports', 'module.exports = { run: (event) => event }'],
    ['a bare module.exports', 'module.exports = async (event) => event'],
    ['export function', 'export function run(event) { return event }'],
    ['export default of an object', 'export default { run: (event) => event }'],
    ['export default of a function', 'export default (event) => event'],
    ['an ES module with top-level await', 'const wait = await 1; export const run = (event) => event'],
  ])('with %s runs', async (_name, code) => {
    expect(resultOf(await service.run(code, {}, 'hello'))).toBe('hello');
  });

  it('may be base64 or plain text', async () => {
    const code = 'exports.run = () => "grüße"';
    const base64 = Buffer.from(code).toString('base64');
    const wrapped = `${base64.replace(/.{12}/g, '$&\r\n')}\n`;
    for (const sourceText of [base64, wrapped]) expect(resultOf(await service.run(sourceText))).toBe('grüße');
  });

  it('may require and import what Node has, in either kind of module', async () => {
    const common =
      'const https = require("https"); exports.run = async () => (await import("node:fs")).existsSync("/") + typeof https.request';
    const es =
      'import fs from "fs"; const https = require("https"); export const run = () => fs.existsSync("/") + typeof https.request';
    expect(resultOf(await service.run(common))).toBe('truefunction');
    expect(resultOf(await service.run(es))).toBe('truefunction');
  });
});

describe('an invocation', () => {
  it('gives the handler its event and its context as strings, and takes the callback (D-135, D-136)', async () => {
    const id = service.lambda(`exports.run = function (event, context, callback) {
      callback(null, { event, context: JSON.parse(context), late: Date.now() > JSON.parse(context).deadline })
    }`);
    const context = { path: '/rest', params: { q: ['1', '2'] }, headers: { host: 'h' }, apiEndpointId: randomUUID() };
    const invocation = await service.invoke(id, '{"eventName":"made"}', context);
    const received = JSON.parse(resultOf(invocation));
    expect(received).toEqual({
      event: '{"eventName":"made"}',
      late: false,
      context: {
        method: 'POST',
        creds: '',
        user: null,
        httpAware: false,
        ...context,
        eventName: 'made',
        executionId: invocation.executionId,
        lambdaId: id,
        lambdaName: invocation.lambdaName,
        deadline: expect.any(Number),
      },
    });
    // Whole milliseconds, by the clock that the lambda has itself.
    const { deadline } = received.context;
    expect(Number.isInteger(deadline)).toBe(true);
    expect(deadline - 60_000).toBeGreaterThanOrEqual(Math.floor(invocation.acceptedAtMs));
    expect(deadline - 60_000).toBeLessThanOrEqual(Math.ceil(invocation.finishedAtMs));
  });

  it('passes bodies through untouched, whatever their size', async () => {
    const id = service.lambda(
      'exports.run = (event) => require("crypto").createHash("sha256").update(event).digest("hex") + event.length',
    );
    const { createHash } = await import('node:crypto');
    for (const size of [0, 1, 20_000, 3_000_000]) {
      const body = 'ü'.repeat(size) || '{}';
      expect(resultOf(await service.invoke(id, body))).toBe(
        createHash('sha256').update(body).digest('hex') + body.length,
      );
    }
  });

  it('records the caller, the time, the duration and the response', async () => {
    const id = service.lambda('exports.run = () => ({ a: 1 })', { headers: { accept: 'application/vnd.test+json' } });
    const [cold, warm] = [await service.invoke(id), await service.invoke(id)];
    expect(cold).toMatchObject({
      lambdaId: id,
      trigger: 'gateway',
      cold: true,
      accept: 'application/vnd.test+json',
      outcome: { ok: true, value: { kind: 'json', bytes: Buffer.from('{"a":1}') } },
      logs: [],
      outbound: [],
    });
    expect(cold.startedAtMs).toBeGreaterThanOrEqual(cold.acceptedAtMs);
    expect(cold.finishedAtMs).toBeGreaterThanOrEqual(cold.startedAtMs ?? Number.POSITIVE_INFINITY);
    expect(warm.cold).toBe(false);
  });

  it('has no content type when the lambda names none, or a wildcard (D-137)', async () => {
    expect(await service.run('exports.run = () => 1')).toHaveProperty('accept', undefined);
    expect(await service.run('exports.run = () => 1', { headers: { Accept: '*/*' } })).toHaveProperty(
      'accept',
      undefined,
    );
  });

  it('keeps its output line by line, including its last output', async () => {
    const reportedLines: string[] = [];
    const watched = await TestLambdaService.start({ onLog: (_id, line) => reportedLines.push(line.text) });
    const id = watched.lambda(`exports.run = (event, context, callback) => {
      console.log('one\\ntwo'); console.error('three'); process.stdout.write('no newline');
      callback(null, 'x')
    }`);
    const { logs, executionId } = await watched.invoke(id);
    expect(logs.map(({ stream, text }) => `${stream} ${text}`).sort()).toEqual([
      'stderr three',
      'stdout no newline',
      'stdout one',
      'stdout two',
    ]);
    expect(logs.every((line) => line.executionId === executionId)).toBe(true);
    expect(reportedLines).toEqual(logs.map(({ text }) => text));
    expect(watched.lambdas.log(id, { stderr: 'false' })).toEqual(['one', 'two', 'no newline']);
    await watched.stop();
  });

  it('keeps an error out of the answer but its trace in the log (D-139)', async () => {
    const invocation = await service.run('exports.run = () => { throw new Error("went wrong") }');
    expect(failureOf(invocation)).toBe('error: went wrong');
    expect(invocation.logs.some(({ text }) => /at .*index\.js:1/.test(text))).toBe(true);
  });

  it('ends with an error and the second argument of callback(error, value)', async () => {
    const invocation = await service.run('exports.run = (event, context, callback) => callback("no lead", "ERROR")');
    expect(invocation.outcome).toEqual({
      ok: false,
      failure: 'error',
      message: 'no lead',
      value: { kind: 'text', bytes: Buffer.from('ERROR') },
    });
  });
});

describe('the environment of a lambda (D-111, D-113)', () => {
  it('is the merged map, the addresses and a little of the host, nothing else', async () => {
    service.put('org', 'root', 'Resource::Organization', { env: { LEVEL: 'org', ORG: '1' } });
    service.put('workspace', 'org', 'Resource::Workspace', { env: { LEVEL: 'workspace', WORKSPACE: '1' } });
    service.put('environment', 'workspace', 'Resource::Environment', {
      env: { LEVEL: 'environment', META_URL: 'http://mine' },
    });
    const id = service.lambda(TELL_ENV, { env: { LEVEL: 'lambda', 'dotted.name': 'x' } }, 'environment');
    const { HOME, TMPDIR, ...env } = JSON.parse(resultOf(await service.invoke(id)));
    expect(env).toEqual({
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      LEVEL: 'lambda',
      ORG: '1',
      WORKSPACE: '1',
      'dotted.name': 'x',
      META_URL: 'http://mine',
      SECURITY_URL: 'http://t/security',
      GATEWAY_URL: 'http://t:1',
    });
    expect(HOME.startsWith(service.folder)).toBe(true);
    expect(TMPDIR.length).toBeLessThanOrEqual(60);
  });

  it('has a home and a temporary folder that can be written to', async () => {
    const code = `const fs = require('fs'), os = require('os');
      exports.run = () => { fs.writeFileSync(os.tmpdir() + '/a', 'x'); fs.writeFileSync('b', 'y'); return fs.readFileSync(os.homedir() + '/b', 'utf8') }`;
    expect(resultOf(await service.run(code))).toBe('y');
  });

  it('has a temporary folder of its own, which only its user can read and which goes with the lambda', async () => {
    const code = `const fs = require('fs'), os = require('os');
      exports.run = () => [os.tmpdir(), fs.readdirSync(os.tmpdir()).length, (fs.statSync(os.tmpdir()).mode & 0o777).toString(8)]`;
    const ids = [service.lambda(code), service.lambda(code)];
    const [first, second] = await Promise.all(ids.map(async (id) => JSON.parse(resultOf(await service.invoke(id)))));
    expect(first[0]).not.toBe(second[0]);
    expect(first.slice(1)).toEqual([0, '700']);
    service.remove(ids[0] ?? '');
    await vi.waitFor(() => expect(existsSync(first[0])).toBe(false), { timeout: 60_000 });
    expect(existsSync(second[0])).toBe(true);
  });

  it('has a temporary folder that programs can put sockets into', async () => {
    const code = `exports.run = (event, context, callback) => {
      const folder = require('fs').mkdtempSync(require('os').tmpdir() + '/org.chromium.Chromium.');
      const server = require('net').createServer().on('error', callback);
      server.listen(folder + '/SingletonSocket', () => server.close(() => callback(null, 'listening')));
    }`;
    expect(resultOf(await service.run(code))).toBe('listening');
  });

  it('has effect even for what Node reads only when it starts', async () => {
    const invocation = await service.run('exports.run = () => String(process.throwDeprecation)', {
      env: { NODE_OPTIONS: '--throw-deprecation' },
    });
    expect(resultOf(invocation)).toBe('true');
  });

  it('has the mounted secrets, as variables and as files below its home (D-045)', async () => {
    service.put('secret', 'root', 'Resource::Secret', {
      items: [
        { key: 'password', value: Buffer.from('pässword').toString('base64') },
        { key: 'plain', value: 'not base64!' },
      ],
    });
    const mount = (mount_type: string, path: string, secret_key: string) => ({
      mount_type,
      secret_id: 'secret',
      path,
      secret_key,
    });
    const secrets = [
      mount('env', 'PASSWORD', 'password'),
      mount('file', '/etc/conf/plain.txt', 'plain'),
      mount('env', 'GONE', 'none'),
    ];
    const code =
      'exports.run = () => [process.env.PASSWORD, require("fs").readFileSync("etc/conf/plain.txt", "utf8"), process.env.GONE]';
    const invocation = await service.run(code, { secrets });
    expect(JSON.parse(resultOf(invocation))).toEqual(['pässword', 'not base64!', '']);
    expect(service.lambdas.log(invocation.lambdaId, {})).toEqual([
      '[terrarium] GONE is empty, because its secret or its item in it does not exist',
    ]);
  });

  it('refuses a secret file that would lie outside of its home', async () => {
    const secrets = [{ mount_type: 'file', secret_id: 'secret', path: '../../escaped', secret_key: 'plain' }];
    expect(failureOf(await service.run(TELL_ENV, { secrets }))).toBe(
      "load: secret path '../../escaped' leads out of the lambda's folder",
    );
  });
});
