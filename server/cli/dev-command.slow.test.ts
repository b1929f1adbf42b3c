import { EventEmitter, once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../platform/emulator.ts';
import { buildCommand, CliRunner } from '../testing/command.ts';
import { DebuggerSession } from '../testing/debugger-session.ts';
import { runCommandLine } from './program.ts';
import { type Terminal, writersTo } from './terminal.ts';

let cli: CliRunner;
let project: string;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
});
afterAll(() => cli?.close());
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'terrarium dev '));
  mkdirSync(join(project, '.git')); // nothing above it is searched
});
afterEach(() => rmSync(project, { recursive: true, maxRetries: 3 }));

const FREE_PORTS = ['--base-port', '0', '--gateway-port', '0'];
const LAMBDA = `export const run = (event: string) => {
  const { payload } = JSON.parse(event);
  if (payload.email === undefined) throw new Error('email is required');
  console.log(process.env.GREETING, payload.email);
  return 'SUCCESS';
};
`;
const WORLD = `format: 1
orgs:
  shop:
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: development }
            lambdas:
              lead:
                properties:
                  provider: { id: default-lambda }
                  runtime: nodejs
                  code_type: package
                  package_url: ./lambda
                  handler: index.run
                  env: { GREETING: '${'$'}{GREETING:-Hello}' }
            apis:
              forms:
                properties: { provider: { id: default-gateway-manager, locations: [default-gateway] } }
                apiendpoints:
                  lead: { properties: { resource: /lead, methods: [POST], implementation_type: lambda, implementation_id: lead } }
`;

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
};
const post = (address: string, email?: string) =>
  fetch(address, { method: 'POST', body: JSON.stringify({ payload: { email } }) });
const addressIn = (out: string) => /http:\/\/\S+\/(?:web|forms)\/lead/.exec(out)?.[0] ?? '';

describe('terrarium dev for one lambda', () => {
  beforeEach(() => {
    write('lambda/package.json', '{ "name": "lead", "main": "index.ts" }');
    write('lambda/index.ts', LAMBDA);
    write('lambda/.env', 'GREETING=Hello\n');
  });

  it('prints requests, uses what is saved, reports mistakes and goes on, and writes only its data', async () => {
    const folder = join(project, 'lambda', 'src');
    mkdirSync(folder);
    const dev = cli.start(['dev', '--ready-file', 'ready.json', ...FREE_PORTS], { folder });
    const address = addressIn(await dev.waitForOutput('window '));
    await post(address, 'ada@example.com');
    expect(await dev.waitForOutput('log  Hello ada')).toMatch(/^\S+ lead +POST \/web\/lead +200 +\d+ ms {2}SUCCESS$/m);

    write('lambda/index.ts', LAMBDA.replace("'SUCCESS'", "'CHANGED'"));
    await dev.waitForOutput('saved index.ts  the next call uses it\n');
    await expect.poll(async () => (await post(address, 'ada@example.com')).text()).toBe('CHANGED');
    write('lambda/.env', 'GREETING=Welcome\n');
    expect(await dev.waitForOutput('saved .env')).toMatch(/^\S+ saved \.env {2}applied in \d+ ms as commit \d+$/m);
    await post(address, 'grace@example.com');
    await dev.waitForOutput('log  Welcome grace@example.com\n');
    rmSync(join(project, 'lambda/.env'));
    await dev.waitForOutput('saved .env (deleted)  applied in');
    await post(address, 'alan@example.com');
    await dev.waitForOutput('log  undefined alan@example.com\n');

    write('lambda/index.ts', `${LAMBDA}const a = (;\n`);
    expect(await dev.waitForOutput('Unexpected token')).toMatch(/^\S+ index\.ts:7:12: Unexpected token$/m);
    write('lambda/index.ts', LAMBDA);
    await expect.poll(async () => (await post(address)).status).toBe(500);
    const failed = await dev.waitForOutput('event  {"payload":{}}\n');
    expect(failed).toMatch(
      / 500 +\d+ ms {2}email is required\n +err {2}Error: email is required\n +err {6}at .*index\.ts:3:\d+\)\n +event/,
    );

    expect(readdirSync(join(project, 'lambda')).sort()).toEqual(['.terrarium', 'index.ts', 'package.json', 'src']);
    dev.child.kill('SIGINT');
    expect(await dev.ended).toMatchObject({ exitCode: 0, err: '' });
  });

  it('prints lines of JSON with --json', async () => {
    const dev = cli.start(['dev', 'lambda', '--json', ...FREE_PORTS], { folder: project });
    const [ready] = (await dev.waitForOutput('\n')).split('\n').map((line) => line && JSON.parse(line));
    expect(ready).toMatchObject({ kind: 'ready', file: 'index.ts', endpoints: [{ name: 'lead', lambda: 'lead' }] });
    await post(ready.endpoints[0].url, 'ada@example.com');
    await dev.waitForOutput('"SUCCESS"');
    // In one step: a save is reported twice if the file is empty for a moment.
    write('new.env', 'GREETING=Welcome\n');
    renameSync(join(project, 'new.env'), join(project, 'lambda', '.env'));
    await dev.waitForOutput('"saved"');
    dev.child.kill('SIGTERM');
    const { exitCode, out } = await dev.ended;
    const [, ...events] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([exitCode, events]).toEqual([
      0,
      [
        expect.objectContaining({ kind: 'request', lambda: 'lead', status: 200, target: '/web/lead' }),
        expect.objectContaining({ kind: 'saved', files: ['.env'], commit: expect.any(Number) }),
      ],
    ]);
  });

  it('keeps its world for the next time, unless it starts over', async () => {
    const run = async (...args: string[]) => {
      const dev = cli.start(['dev', 'lambda', ...FREE_PORTS, ...args], { folder: project });
      await dev.waitForOutput('window ');
      const { worldId } = JSON.parse(readFileSync(join(project, 'lambda/.terrarium/instance.json'), 'utf8'));
      dev.child.kill('SIGTERM');
      await dev.ended;
      return worldId;
    };
    const worldId = await run();
    expect(await run()).toBe(worldId);
    expect(await run('--fresh')).not.toBe(worldId);
    expect(existsSync(join(project, 'lambda/.terrarium/set-aside'))).toBe(true);
  });

  it('with --debug starts a debugger, and writes launch.json only once', async () => {
    const launchFile = join(project, 'lambda/.vscode/launch.json');
    const run = async (part: string) => {
      const args = ['dev', 'lambda', '--debug', '--lambdas-debug-port', '0', ...FREE_PORTS];
      const dev = cli.start(args, { folder: project });
      const out = await dev.waitForOutput(part);
      const url = /debugger +(ws:\S+) +> lead$/m.exec(out)?.[1] ?? '';
      await (await DebuggerSession.attach(url)).close();
      dev.child.kill('SIGTERM');
      await dev.ended;
      return url;
    };
    const url = await run('wrote .vscode/launch.json');
    const { configurations } = JSON.parse(readFileSync(launchFile, 'utf8'));
    expect(configurations).toEqual([expect.objectContaining({ name: 'lead', websocketAddress: url })]);
    writeFileSync(launchFile, '{ "version": "0.2.0" } // mine');
    await run('"configurations":\n  {');
    expect(readFileSync(launchFile, 'utf8')).toBe('{ "version": "0.2.0" } // mine');
  });

  it('names the port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { exitCode, err } = await cli.run(['dev', 'lambda', '--base-port', String(port)], { folder: project });
    expect([exitCode, err]).toEqual([
      2,
      expect.stringMatching(/^terrarium: port \d+ on 127\.0\.0\.1 is in use: .*\n$/),
    ]);
  });
});

describe('terrarium dev with a world file', () => {
  it('refuses a file of a newer version in one sentence', async () => {
    write('world.yaml', 'format: 2\n');
    const { exitCode, err } = await cli.run(['dev', ...FREE_PORTS], { folder: project });
    expect([exitCode, err]).toEqual([
      2,
      `terrarium: ${join(project, 'world.yaml')}:1: /format: must be 1: the version of the seed format\n`,
    ]);
    expect(existsSync(join(project, '.terrarium'))).toBe(false);
  });

  it('applies the world on save, and acts on keys', async () => {
    write('world.yaml', WORLD);
    write('lambda/index.ts', LAMBDA);
    const { terminal, press, stop, waitForOutput } = fakeTerminal(project);
    const running = runCommandLine(['dev', ...FREE_PORTS], terminal, startEmulator);
    const address = addressIn(await waitForOutput(/back to seed/));
    press('f');
    await waitForOutput(/POST \/forms\/lead +200 .*\n +log {2}Hello ada@example\.com\n/);
    press('r');
    await waitForOutput(/lead +\(manual\) +ok .*SUCCESS\n +log {2}Hello ada@example\.com\n/);
    press('x');
    await waitForOutput(/the next CRM call gets 503 \(once\)/);

    write('.env', 'GREETING=Welcome\n');
    await waitForOutput(/saved \.env {2}applied in \d+ ms as commit/);
    await post(address, 'grace@example.com');
    await waitForOutput(/log {2}Welcome grace/);
    press('z');
    await waitForOutput(/undone: commit \d+ {2}\/shop\/w\/e\/lead/);
    await post(address, 'alan@example.com');
    await waitForOutput(/log {2}Hello alan/);
    write('.env', 'GREETING=Welcome\n'); // saved again, although the file has not changed
    await waitForOutput(/(saved \.env {2}applied in \d+ ms[\s\S]*){2}/);
    press('z');
    await waitForOutput(/(undone: commit[\s\S]*){2}/);
    write('.env', '');
    await waitForOutput(/saved \.env {2}nothing has changed/);
    press('z');
    await waitForOutput(/nothing has changed since the start/);
    write('world.yaml', `${WORLD}  wrong: []\n`);
    await waitForOutput(/world\.yaml:\d+: .*\/orgs\/wrong/);
    write('output.txt', 'of this command'); // must not repeat the mistake
    write('lambda/index.ts', `${LAMBDA}\n`);
    const out = await waitForOutput(/(\/orgs\/wrong[\s\S]*){2}/);
    expect(out.match(/\/orgs\/wrong/g)).toHaveLength(2);
    write('world.yaml', WORLD);
    await waitForOutput(/saved world\.yaml {2}nothing has changed/);
    write('world.yaml', WORLD.replace('resource: /lead', 'resource: /other'));
    await waitForOutput(/saved world\.yaml {2}applied/);
    expect((await post(address, 'ada@example.com')).status).toBe(404);
    press('z');
    await waitForOutput(/(undone: commit[\s\S]*){3}/);
    press('f');
    await waitForOutput(/(POST \/forms\/lead +200[\s\S]*){2}/);
    write('world.yaml', WORLD);
    await waitForOutput(/(saved world\.yaml {2}nothing has changed[\s\S]*){2}/);
    press('0');
    await waitForOutput(/back to the seed and the outbound rules in world\.yaml/);
    write('world.yaml', WORLD.replace('implementation_id: lead', 'implementation_id: nothing'));
    await waitForOutput(/world\.yaml:\d+: .*implementation_id/);
    press('0');
    await waitForOutput(/(world\.yaml:\d+: .*implementation_id[\s\S]*){2}/);
    press('z');
    await waitForOutput(/(nothing has changed since the start[\s\S]*){2}/);
    expect((await post(address, 'ada@example.com')).status).toBe(200);
    await cli.run(['faults', 'add', 'gateway', '--cut', '--times', '1'], { folder: project });
    press('f');
    expect(await waitForOutput(/does not respond: /)).not.toContain('internal error');
    press('?');
    await waitForOutput(/Ctrl\+C {2}stop/);
    press('o');
    await waitForOutput(/The window was not opened|Opening /);
    stop();
    expect(await running).toBe(0);
  });
});

describe('terrarium dev on the world of an earlier run', () => {
  it.each([
    ['y', 'Welcome'],
    ['n', 'Hello'],
  ])('shows what the files change and waits for a key: %s', async (key, greeting) => {
    write('world.yaml', WORLD);
    write('lambda/index.ts', LAMBDA);
    const first = cli.start(['dev', ...FREE_PORTS], { folder: project });
    await first.waitForOutput('window ');
    first.child.kill('SIGTERM');
    await first.ended;

    write('.env', 'GREETING=Welcome\n');
    const { terminal, press, stop, waitForOutput } = fakeTerminal(project);
    const running = runCommandLine(['dev', ...FREE_PORTS], terminal, startEmulator);
    const plan = await waitForOutput(/The world of the last run differs/);
    expect(plan).toMatch(/^~ lambdas \/shop\/w\/e\/lead\n {4}replace \/properties\/env\/GREETING "Welcome"$/m);
    press(key);
    await waitForOutput(/back to seed/);
    press('f');
    await waitForOutput(new RegExp(`log  ${greeting} ada`));
    stop();
    expect(await running).toBe(0);
  });
});

/** A terminal of a person, for a command in this process. */
function fakeTerminal(folder: string) {
  const [out, keys, signals] = [new PassThrough(), new EventEmitter(), new EventEmitter()];
  let output = '';
  out.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const terminal: Terminal = {
    ...writersTo(out, out, { isScreen: true, hasColour: false }),
    readInput: async () => '',
    ask: async () => '',
    readKeys: (onKey) => {
      keys.on('key', onKey);
      return () => void keys.off('key', onKey);
    },
    signals,
    exit: () => {},
    nowMs: () => performance.now(),
    env: { PATH: process.env.PATH, CI: 'true' },
    folder,
    pid: process.pid,
    nodeVersion: process.versions.node,
    hasColour: false,
    isInteractive: true,
  };
  return {
    terminal,
    press: (key: string) => keys.emit('key', key),
    stop: () => signals.emit('SIGINT', 'SIGINT'),
    async waitForOutput(part: RegExp): Promise<string> {
      await expect.poll(() => output).toMatch(part);
      return output;
    },
  };
}
