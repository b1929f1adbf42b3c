import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { closeWithin, listenAt } from '../api/server/listening.ts';
import { startEmulator } from '../platform/emulator.ts';
import { buildCommand, CliRunner, type RunningCommand } from '../testing/command.ts';
import { localTime } from './request-log.ts';

const CONTACT_FORM = '/demo/website/development/contact-form';

let cli: CliRunner;
let platform: RunningCommand;

// One platform for all tests: the default instance of the folder, with free ports.
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  platform = cli.start(['--base-port', '0', '--gateway-port', '0', '--lambdas-periodic']);
  await platform.waitForOutput('Ctrl+C');
});
afterAll(() => cli?.close());

const instance = () => JSON.parse(readFileSync(join(cli.folder, '.terrarium', 'instance.json'), 'utf8'));
const keyPair = () => JSON.parse(readFileSync(join(cli.folder, '.terrarium', 'root-api-key.json'), 'utf8'));
const passwordOf = (user: string) =>
  JSON.parse(readFileSync(join(cli.folder, '.terrarium', 'passwords.json'), 'utf8'))[user];
const formOf = (email: string) => JSON.stringify({ payload: { email, lastName: 'Lovelace', company: 'Engines' } });
const lambdaProperties = {
  provider: { id: '/default-lambda' },
  runtime: 'nodejs',
  code_type: 'code',
  handler: 'run',
  code: 'exports.run = () => 1;',
};
/** Adds a lambda to the demo world, next to the contact form. */
async function createLambda(name: string, code: string, more: object = {}): Promise<void> {
  const environments = { development: { lambdas: { [name]: { properties: { ...lambdaProperties, code, ...more } } } } };
  const seed = { format: 1, orgs: { demo: { workspaces: { website: { environments } } } } };
  const { exitCode, err } = await cli.runInProcess(['apply', '-f', '-'], { input: JSON.stringify(seed) });
  expect([exitCode, err]).toEqual([0, '']);
}

describe('terrarium status', () => {
  it('finds the platform by its data folder', async () => {
    const status = await cli.json('status');
    expect(status).toMatchObject({ running: true, health: 'healthy', pid: platform.child.pid, ...instance() });
    const { out } = await cli.run(['status']);
    expect(out).toContain(`baseUrl      ${status.baseUrl}`);
    // It distinguishes two processes with the same id, and says nothing to a user.
    expect(out).not.toMatch(/^began/m);
  });

  it('finds the platform by its address, without folder and key', async () => {
    const { baseUrl, gatewayUrl } = instance();
    expect(await cli.json('status', '--base-url', baseUrl)).toMatchObject({ running: true, gatewayUrl });
    const { exitCode, err } = await cli.runInProcess(['status', '--base-url', 'http://127.0.0.1:1']);
    expect([exitCode, err]).toEqual([
      1,
      'terrarium: http://127.0.0.1:1/meta/about does not respond: connection refused\n',
    ]);
  });

  it('ends with exit code 1 if no platform is running', async () => {
    const { exitCode, out } = await cli.run(['status', '--instance', 'none', '--json']);
    expect([exitCode, JSON.parse(out).running]).toEqual([1, false]);
  });
});

describe('the options that select a platform', () => {
  it('must select a running one', async () => {
    const { exitCode, out, err } = await cli.runInProcess(['token', '--data', 'nowhere']);
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toBe(
      `terrarium: no platform is running on ${join(cli.folder, 'nowhere')}. Start one with \`npx terrarium-emulator start\`, or select another one with --instance, --data or --base-url.\n`,
    );
  });

  it.each([
    [['--data', 'x', '--instance', 'x'], '--instance and --data both select a data folder'],
    [['--data', 'x', '--base-url', 'http://localhost'], '--base-url cannot be combined with'],
    [['--base-url', 'localhost'], '"localhost" is not an http or https address'],
    [['--key', 'k'], '--key and --secret must be set together'],
    [['--instance', '../x'], '--instance is "../x"'],
  ])('cannot be %j', async (args, reason) => {
    const { exitCode, out, err } = await cli.runInProcess(['token', ...args]);
    expect([exitCode, out, err.split('\n').length]).toEqual([2, '', 2]);
    expect(err).toContain(reason);
  });

  it('can come from the environment, over which --data has precedence', async () => {
    const { key, secret } = keyPair();
    const env = { TERRARIUM_BASE_URL: instance().baseUrl, TERRARIUM_API_KEY: key, TERRARIUM_API_SECRET: secret };
    expect((await cli.run(['token'], { env })).exitCode).toBe(0);
    expect(await cli.runInProcess(['token', '--key', key, '--secret', 'wrong'], { env })).toMatchObject({
      exitCode: 2,
      out: '',
    });
    const wrong = await cli.runInProcess(['leads', '--json'], { env: { ...env, TERRARIUM_API_SECRET: 'wrong' } });
    expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('Set the correct --key')]);
    const message = expect.stringContaining('Set the correct --key');
    expect(JSON.parse(wrong.out)).toEqual({ error: { message, reason: 'unauthenticated', status: 401 } });
    const elsewhere = { ...env, TERRARIUM_BASE_URL: 'http://127.0.0.1:1' };
    expect((await cli.runInProcess(['token', '--data', '.terrarium'], { env: elsewhere })).exitCode).toBe(0);
  });
});

describe('terrarium token', () => {
  it('prints a valid token, for the key pair or for a user', async () => {
    for (const [args, name] of [
      [[], 'root'],
      [['--user', 'ada.byrne'], 'ada.byrne'],
      [['--user', 'ada.byrne', '--password', passwordOf('ada.byrne')], 'ada.byrne'],
    ] as const) {
      const { out } = await cli.runInProcess(['token', ...args]);
      const headers = { Authorization: `Bearer ${out.trim()}` };
      const self = await fetch(`${instance().metaUrl}/users/self`, { headers });
      expect(await self.json()).toMatchObject({ name });
    }
    expect(await cli.json('token')).toMatchObject({ access_token: expect.any(String), token_type: 'bearer' });
  });

  it('prints the random password of root or of a user', async () => {
    for (const [args, user] of [
      [[], 'root'],
      [['--user', 'ada.byrne'], 'ada.byrne'],
    ] as const) {
      const { out } = await cli.runInProcess(['token', '--show-password', ...args]);
      expect(out.trim()).toBe(passwordOf(user));
    }
  });

  it('reports why no token was issued', async () => {
    const { exitCode, err } = await cli.runInProcess(['token', '--user', 'ada.byrne', '--password', 'wrong']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('wrong password')]);
    const unknown = await cli.runInProcess(['token', '--user', 'nina']);
    expect([unknown.exitCode, unknown.err]).toEqual([1, expect.stringContaining("user 'nina' has no random password")]);
  });
});

describe('terrarium invoke', () => {
  it('shows the invocation, for a path or an id, with the event in any form', async () => {
    writeFileSync(join(cli.folder, 'event.json'), formOf('file@example.com'));
    const first = await cli.json('invoke', CONTACT_FORM, '--event', '@event.json');
    expect(first).toMatchObject({
      lambdaName: 'contact-form',
      trigger: 'manual',
      outcome: { ok: true, result: 'SUCCESS' },
      logs: [{ stream: 'stdout', text: 'CRM answered 200' }],
      outbound: [{ method: 'POST', status: 200, caughtBy: 'crm' }],
    });
    const { exitCode, out } = await cli.run(['invoke', first.lambdaId, '--event', '-'], {
      input: formOf('in@example.com'),
    });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^ok in [\d.]+ ms.*\nresult {4}SUCCESS\nlog {7}CRM answered 200\noutbound {2}POST https:/);
    const emails = (await cli.json('leads')).map((lead: { mapped: { email: string } }) => lead.mapped.email);
    expect(emails).toEqual(expect.arrayContaining(['file@example.com', 'in@example.com']));
  });

  it('shows a connection without HTTP with its bytes', async () => {
    const server = createServer((socket) => socket.end('answer'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    const connect = `require('net').connect(${port}, '127.0.0.1').on('data', () => callback(null, 'read')).write('ask')`;
    await createLambda('connecting', `exports.run = (event, context, callback) => { ${connect} }`);
    const { out } = await cli.runInProcess(['invoke', '/demo/website/development/connecting']);
    expect(out).toMatch(new RegExp(`outbound {2}TCP tcp://127.0.0.1:${port}: 3 bytes sent, 6 received in [\\d.]+ ms`));
  });

  it('ends with exit code 1 when the lambda fails', async () => {
    await createLambda('failing', "exports.run = (event, context, callback) => callback('out of ink', 'ERROR');");
    const { exitCode, out } = await cli.runInProcess(['invoke', '/demo/website/development/failing']);
    expect([exitCode, out]).toEqual([1, expect.stringMatching(/^error in [\d.]+ ms.*: out of ink\nresult {4}ERROR\n/)]);
  });

  it.each([
    [['/demo/website/development/none'], "lambda '/demo/website/development/none' not found"],
    [['/demo/website'], "lambda '/demo/website' not found. Give the ID, path such as"],
    [['nowhere'], "lambda 'nowhere' not found"],
    [['00000000-0000-4000-8000-000000000000'], 'not found'],
    [[CONTACT_FORM, '--event', '{'], 'the event is not valid JSON'],
    [[CONTACT_FORM, '--event', '@missing.json'], 'missing.json'],
  ])('prints one line for invalid arguments %j', async (args, reason) => {
    const { exitCode, out, err } = await cli.runInProcess(['invoke', ...args]);
    expect([exitCode, out, err.split('\n').length]).toEqual([2, '', 2]);
    expect(err).toContain(reason);
  });
});

describe('terrarium logs', () => {
  const count = (lambda: string, from: number, to: number) =>
    cli.json('invoke', lambda, '--event', JSON.stringify({ from, to }));
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at));
  const linesOf = (out: string) => out.split('\n').slice(0, -1);

  /** Creates a lambda that prints numbers, even ones to standard output and odd ones to standard error. Returns its path. */
  const createCounter = async (name: string) => {
    await createLambda(
      name,
      `exports.run = (event, context, callback) => {
        const { from, to } = JSON.parse(event);
        for (let line = from; line <= to; line++) (line % 2 ? console.error : console.log)(line);
        callback(null, 'counted');
      };`,
    );
    return `/demo/website/development/${name}`;
  };

  it('follows without losing or repeating a line', async () => {
    const lambda = await createCounter('followed');
    await count(lambda, 1, 3);
    const following = cli.start(['logs', lambda, '-f']);
    await following.waitForOutput('3\n');
    for (const [from, to] of [
      [4, 40],
      [41, 60],
      [61, 300],
    ] as const)
      await count(lambda, from, to);
    // Standard output and standard error are two pipes, so their lines may be recorded in another order.
    const printed = linesOf(await following.waitForOutput('300\n').then(() => following.waitForOutput('299\n')));
    expect(printed.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers(1, 300));
    following.child.kill('SIGINT');
    expect((await following.ended).exitCode).toBe(null); // ended by the signal
  });

  it('prints the log with or without standard error, as text or as JSON', async () => {
    const lambda = await createCounter('printed');
    await count(lambda, 1, 300);
    const linesInJson = async () => linesOf((await cli.runInProcess(['logs', lambda, '--json'])).out);
    await expect.poll(linesInJson).toHaveLength(300);
    const { out, exitCode } = await cli.runInProcess(['logs', lambda, '--no-stderr', '--since', '1h']);
    expect([exitCode, linesOf(out)]).toEqual([0, numbers(1, 300).filter((number) => Number(number) % 2 === 0)]);
    expect(JSON.parse((await linesInJson())[0] ?? '')).toEqual({
      at: expect.stringMatching(/Z$/),
      stream: expect.stringMatching(/^std(out|err)$/),
      text: expect.any(String),
      executionId: expect.any(String),
    });
  });
});

describe('terrarium logs without a name', () => {
  const lineOf = (name: string, text: string) =>
    new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d  ${name} +${text}$`, 'm');

  it('prints the lines of all lambdas with time and name, and goes on with -f', async () => {
    for (const name of ['sparrow', 'finch'])
      await createLambda(name, `exports.run = () => { console.log('of ${name}'); };`);
    await createLambda('crow', "exports.run = () => { console.error('of crow'); };");
    for (const name of ['sparrow', 'finch']) await cli.json('invoke', name);
    const following = cli.start(['logs', '-f']);
    expect(await following.waitForOutput('log  of finch\n')).toMatch(lineOf('sparrow', 'log  of sparrow'));
    await cli.json('invoke', 'crow');
    expect(await following.waitForOutput('err  of crow\n')).toMatch(lineOf('crow', 'err  of crow'));
    expect((await following.waitForOutput('of crow')).match(/of sparrow/g)).toHaveLength(1);
    following.child.kill('SIGINT');
    await following.ended;

    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => void vi.unstubAllEnvs());
    const since = localTime(new Date(Date.now() - 3_600_000).toISOString());
    const { out } = await cli.runInProcess(['logs', '--json', '--no-stderr', '--since', since]);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ lambdaName: 'finch', stream: 'stdout', text: 'of finch' }));
    expect(lines.filter(({ stream }) => stream === 'stderr')).toEqual([]);
  });
});

it('terrarium outbound adds, lists and removes rules for outbound calls', async () => {
  const options = ['--body', '{"success":true}', '--header', 'X-Mine: a:b', '--times', '2', '--after', '1'];
  const added = await cli.json('outbound', 'add', 'captcha.example', 'answer', ...options);
  const answer = { body: { success: true }, headers: { 'X-Mine': 'a:b' }, times: 2, after: 1 };
  expect(added).toMatchObject([{ host: 'captcha.example', action: 'answer', ...answer }]);
  await cli.json('outbound', 'add', '{crm}', 'delay', '--delay-ms', '5');
  const { out } = await cli.runInProcess(['outbound']);
  expect(out).toMatch(
    /^delay of 5 ms for \{crm\}.*\nanswer with 200 for captcha.example.*\n(pass|block) for all other hosts outside/,
  );
  expect((await cli.runInProcess(['outbound', 'add', 'a', 'answer', '--times', 'x'])).exitCode).toBe(2);
  const wrong = await cli.runInProcess(['outbound', 'add', 'a', 'fail']);
  expect(wrong).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining("must have either a 'status' or an 'error'"),
  });
  const withFile = ['outbound', 'add', 'a', 'answer', '--file'];
  for (const file of ['missing.json', '.terrarium'])
    expect(await cli.runInProcess([...withFile, file])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining(`${join(cli.folder, file)} cannot be read: `),
    });
  // A platform at an address may run on another machine.
  const { key, secret } = keyPair();
  const elsewhere = ['--base-url', instance().baseUrl, '--key', key, '--secret', secret];
  expect(await cli.runInProcess([...withFile, 'missing.json', ...elsewhere])).toMatchObject({ exitCode: 0, err: '' });
  expect(await cli.json('outbound', 'clear')).toEqual({ removed: 3 });
});

describe('terrarium leads wait', () => {
  const send = (email: string) => cli.json('invoke', CONTACT_FORM, '--event', formOf(email));

  it('finds an existing lead', async () => {
    await send('early@example.com');
    const { exitCode, out } = await cli.runInProcess(['leads', 'wait', '--email', 'EARLY@example.com']);
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/^\S+Z {2}early@example\.com {2}Lovelace {2}Engines\n$/),
    ]);
  });

  it('waits for the next lead', async () => {
    const waiting = cli.json('leads', 'wait', '--email', 'late@example.com', '--timeout', '15');
    await send('other@example.com');
    await send('late@example.com');
    expect((await waiting).mapped).toMatchObject({ email: 'late@example.com' });
  });

  it('ends with exit code 1 after a timeout', async () => {
    const waited = await cli.runInProcess(['leads', 'wait', '--email', 'no@example.com', '--timeout', '1', '--json']);
    expect(waited).toEqual({
      exitCode: 1,
      out: '',
      err: 'terrarium: no lead of no@example.com came within 1 s\n',
    });
    expect((await cli.runInProcess(['leads', 'wait', '--timeout', 'long'])).exitCode).toBe(2);
  });
});

describe('terrarium mails', () => {
  const send = (to: string, subject: string) =>
    createTransport(`${instance().smtpUrl}?ignoreTLS=true`).sendMail({
      from: 'shop@example.com',
      to,
      subject,
      text: 'Welcome',
    });

  it('lists, shows, waits for and deletes mails', async () => {
    const waiting = cli.json('mails', 'wait', '--to', 'ADA@example.com', '--timeout', '15');
    await send('eve@example.com', 'Other');
    await send('ada@example.com', 'Hello');
    expect(await waiting).toMatchObject({ subject: 'Hello', text: 'Welcome\n' });
    const list = (await cli.runInProcess(['mails'])).out.trimEnd().split('\n');
    expect(list).toEqual([expect.stringMatching(/eve@example[.]com +Other$/), expect.stringMatching(/ada@.* Hello$/)]);
    const [id = ''] = list[1]?.split(' ') ?? [];
    expect((await cli.runInProcess(['mails', 'show', id])).out).toMatch(/^subject +Hello\n\nWelcome$/m);
    expect(await cli.json('mails', 'clear')).toEqual({ deleted: 2 });
    const waited = await cli.runInProcess(['mails', 'wait', '--to', 'ada@example.com', '--timeout', '1']);
    expect(waited).toEqual({
      exitCode: 1,
      out: '',
      err: 'terrarium: no mail to ada@example.com came within 1 s\n',
    });
  });
});

describe('terrarium apply and export', () => {
  it('restore the same world, from one file and from a folder with code files', async () => {
    for (const target of ['world.yaml', 'world.json', 'world']) {
      const { files } = await cli.json('export', '-o', target);
      expect(files[0]).toContain(join(cli.folder, target));
      const applied = await cli.json('apply', '-f', target, '--prune');
      expect(applied.summary).toMatchObject({ create: 0, update: 0, delete: 0 });
      expect(applied).not.toHaveProperty('commit');
    }
    expect(await cli.json('export', '--scope', '/demo')).toHaveProperty('orgs.demo');
  });

  it.each(['[]', 'null', '<html>'])('writes no folder from the answer %s of another server', async (answer) => {
    const server = createHttpServer((_request, response) => response.end(answer));
    const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => closeWithin(server, 0));
    const address = ['--base-url', `http://127.0.0.1:${port}`, '--key', 'a', '--secret', 'b'];
    expect(await cli.runInProcess(['export', '-o', 'other', ...address])).toEqual({
      exitCode: 1,
      out: '',
      err: `terrarium: http://127.0.0.1:${port} did not return a seed document\n`,
    });
  });

  it('prints the changes first, and changes nothing in a dry run', async () => {
    const seed = '{format: 1, orgs: {demo: {description: Ferns only}}}';
    const dry = await cli.runInProcess(['apply', '-f', '-', '--dry-run'], { input: seed });
    expect(dry).toMatchObject({
      exitCode: 0,
      err: '',
      out: expect.stringContaining('replace /description "Ferns only"'),
    });
    expect(dry.out).not.toContain('commit');
    const done = await cli.runInProcess(['apply', '-f', '-'], { input: seed });
    expect(done.out).toMatch(/^~ orgs \/demo\n {4}replace .*\n.*1 update.*\napplied as commit \d+\n$/);
    expect((await cli.runInProcess(['apply', '-f', '-'], { input: seed })).out).toMatch(/^0 create, 0 update/);
  });

  it('names the line and the member that is not valid', async () => {
    writeFileSync(
      join(cli.folder, 'bad.yaml'),
      'format: 1\norgs:\n  demo:\n    workspaces:\n      Bad Name!:\n        properties: {env: 7}\n',
    );
    const { exitCode, out, err } = await cli.run(['apply', '-f', 'bad.yaml']);
    expect([exitCode, out, err]).toEqual([2, '', expect.stringMatching(/bad\.yaml:\d+: /)]);
    writeFileSync(
      join(cli.folder, 'bad.yaml'),
      'format: 1\norgs:\n  demo:\n    workspaces:\n      website:\n        properties: {env: 7}\n',
    );
    const rejected = await cli.runInProcess(['apply', '-f', 'bad.yaml', '--json']);
    const message = expect.stringMatching(/bad\.yaml:6: \/orgs\/demo\/workspaces\/website\/properties\/env: must be /);
    expect(JSON.parse(rejected.out)).toEqual({ error: { message, reason: 'invalid_body', status: 400 } });
  });
});

describe('control characters in data', () => {
  const CONTROLS = '\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202e';
  /** All control characters except line feeds. */
  const ACTING = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

  it('are escaped on a terminal', async () => {
    await createLambda(
      'shouter',
      `exports.run = (e, c, done) => { console.log(${JSON.stringify(`${CONTROLS}log`)}); done(${JSON.stringify(`${CONTROLS}no`)}); };`,
    );
    const invoked = await cli.runInProcess(['invoke', '/demo/website/development/shouter']);
    const logs = await cli.runInProcess(['logs', '/demo/website/development/shouter']);
    expect(logs.out).toContain('\\u001b]0;owned\\u0007');
    const form = JSON.stringify({
      payload: { email: 'x@example.com', lastName: `${CONTROLS}x\nada`, company: CONTROLS },
    });
    expect((await cli.runInProcess(['invoke', CONTACT_FORM, '--event', form])).exitCode).toBe(0);
    const leads = await cli.runInProcess(['leads', '--email', 'x@example.com']);
    expect(leads.out.trimEnd().split('\n')).toHaveLength(1);
    const refused = await cli.runInProcess(['invoke', `/demo/${CONTROLS}`]);
    const json = await cli.runInProcess(['logs', '/demo/website/development/shouter', '--json']);
    expect(
      json.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).text),
    ).toContain(`${CONTROLS}log`);
    for (const [name, { out, err }] of Object.entries({ invoked, logs, leads, refused, json })) {
      expect(`${out}${err}`, name).not.toMatch(ACTING);
    }
  });
});

describe('terrarium schedule', () => {
  it('prints the next and the last periodic invocation', async () => {
    expect(await cli.runInProcess(['schedule', CONTACT_FORM])).toMatchObject({
      exitCode: 0,
      out: 'the lambda has no periodic_info with cron or interval_seconds, so it is not invoked periodically\n',
    });
    await createLambda('new-year', 'exports.run = () => 1;', { periodic_info: { cron: '0 0 1 1 *' } });
    expect((await cli.runInProcess(['schedule', 'new-year'])).out).toMatch(/^next {2}\d{4}-01-01T00:00:00\.000Z\n$/);
    expect(await cli.json('schedule', 'new-year')).toEqual({ nextAt: expect.stringMatching(/-01-01T/), leftOut: 0 });
    await createLambda('often', 'exports.run = () => 1;', { periodic_info: { interval_seconds: 1 } });
    const readSchedule = async () => (await cli.runInProcess(['schedule', 'often'])).out;
    await expect.poll(readSchedule, { timeout: 60_000 }).toMatch(/^next {2}\S+Z\nlast {2}\S+Z\n/);
  });
});

describe('a lambda by its name alone', () => {
  it('is accepted if it is unique; otherwise the error lists the paths', async () => {
    await createLambda('twice', lambdaProperties.code);
    expect(await cli.json('invoke', 'twice')).toMatchObject({ outcome: { ok: true } });
    const none = await cli.runInProcess(['invoke', 'nowhere']);
    expect([none.exitCode, none.err]).toEqual([2, expect.stringContaining("lambda 'nowhere' not found")]);
    const lambdas = { twice: { properties: lambdaProperties } };
    const environments = { test: { lambdas } };
    const seed = { format: 1, orgs: { demo: { workspaces: { website: { environments } } } } };
    await cli.runInProcess(['apply', '-f', '-'], { input: JSON.stringify(seed) });
    const both = await cli.runInProcess(['invoke', 'twice']);
    expect([both.exitCode, both.err]).toEqual([2, expect.stringContaining('/demo/website/test/twice')]);
  });

  it('leads clear deletes all leads', async () => {
    expect(await cli.json('leads', 'clear')).toEqual({ deleted: expect.any(Number) });
    expect(await cli.json('leads')).toEqual([]);
    expect(await cli.runInProcess(['leads', 'clear'])).toMatchObject({ exitCode: 0, out: '0 deleted\n' });
  });
});

describe('terrarium push and pull', () => {
  let other: Awaited<ReturnType<typeof startEmulator>>;
  let env: Record<string, string>;
  const FORM = 'demo/website/development/lambdas/contact-form';

  beforeAll(async () => {
    other = await startEmulator({ seed: 'empty', containers: { engine: 'none' }, typePrefix: 'Acme' });
    const { apiKey, apiSecret = '' } = other.rootCredentials;
    env = { TERRARIUM_REMOTE_USER: apiKey, TERRARIUM_REMOTE_PASSWORD: apiSecret };
    const headers = {
      Authorization: `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`,
      'Content-Type': 'application/json',
    };
    const make = async (path: string, body?: { body: string }): Promise<{ id: string }> =>
      JSON.parse(await (await fetch(other.metaUrl + path, { method: 'POST', headers, ...body })).text());
    await make('/root/providers/initialize');
    const named = (name: string, properties = {}) => ({ body: JSON.stringify({ name, properties }) });
    await make('/root', named('demo'));
    const { id } = await make('/demo/workspaces', named('website'));
    await make(`/demo/workspaces/${id}/environments`, named('development', { environment_type: 'production' }));
  });
  afterAll(() => other?.stop());

  it('copy a lambda to the other platform and back, after printing plan and checks', async () => {
    const push = (...more: string[]) => cli.runInProcess(['push', other.metaUrl, FORM, ...more], { env });
    await cli.json('invoke', CONTACT_FORM, '--event', formOf('tried@example.com'));
    const dry = await push('--dry-run');
    expect(dry.out).toContain('+ lambda contact-form\n');
    expect(dry.out).toMatch(/\[.\] Tried since the last change: /);
    expect(await push()).toMatchObject({ exitCode: 2, err: expect.stringMatching(/--(yes|anyway)/) });
    const canceled = await cli.runInProcess(['push', other.metaUrl, FORM, '--json', '--anyway'], { env, answer: 'n' });
    expect(canceled).toMatchObject({ exitCode: 1, out: '', err: expect.stringContaining('+ lambda contact-form\n') });
    const done = await push('--yes', '--anyway');
    expect([done.exitCode, done.out]).toEqual([0, expect.stringContaining('done: lambda contact-form')]);
    expect((await push()).out).toMatch(/0 create, 0 update, \d+ unchanged\n$/);

    const pull = await cli.runInProcess(['pull', other.metaUrl, FORM, '--here', 'demo/new/place', '--yes'], { env });
    // The endpoint that was pushed already uses the address.
    expect(pull).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/already serves \/lead.*\n.*Run the command again/),
    });
    expect(pull.out).toContain('done: lambda contact-form');
    expect(
      await cli.json('invoke', '/demo/new/place/contact-form', '--event', formOf('pulled@example.com')),
    ).toMatchObject({
      outcome: { ok: true },
    });
  });

  it('report what to correct', async () => {
    const foreign: Record<string, string> = { ...env, TERRARIUM_REMOTE_PASSWORD: 'no' };
    for (const [args, as, exitCode, reason] of [
      [['pull', other.metaUrl, FORM], {}, 2, 'Set TERRARIUM_REMOTE_USER'],
      [['pull', other.metaUrl, FORM], foreign, 2, 'rejects these credentials'],
      [['pull', other.metaUrl, 'demo'], env, 2, 'not a path of an environment'],
      [['pull', 'http://127.0.0.1:2/meta', FORM], env, 1, 'connection refused'],
      [
        ['push', other.metaUrl, 'demo/website/none'],
        env,
        2,
        "environment 'demo/website/none' does not exist on this platform",
      ],
    ] as const) {
      const ended = await cli.runInProcess([...args], { env: as });
      expect([ended.exitCode, ended.err]).toEqual([exitCode, expect.stringContaining(reason)]);
    }
  });
});
