import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../platform/config.ts';
import type { Config } from '../platform/config-schema.ts';
import type { Emulator } from '../platform/emulator.ts';
import { packageFile } from '../system/package-file.ts';
import { runCommandLine } from './program.ts';
import type { Terminal } from './terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium cli '));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A terminal that collects its output, and emits `line` for each printed line. */
class TestTerminal extends EventEmitter implements Terminal {
  readonly out: string[] = [];
  readonly complaints: string[] = [];
  readonly exits: number[] = [];
  readonly signals = new EventEmitter();
  readonly pid = 4242;
  readonly nodeVersion = '20.19.0';
  readonly folder = folder;
  env: Record<string, string | undefined> = {};
  hasColour = false;
  readonly isInteractive = false;
  readInput(): Promise<string> {
    return Promise.resolve('');
  }
  ask(): Promise<string> {
    return Promise.resolve('');
  }
  readKeys(): () => void {
    return () => {};
  }
  print(line: string): void {
    this.out.push(line);
    this.emit('line');
  }
  printDocument(text: string): void {
    this.print(text);
  }

  complain(line: string): void {
    this.complaints.push(line);
  }
  exit(code: number): void {
    this.exits.push(code);
  }
  timeMs = 0;
  nowMs(): number {
    return this.timeMs;
  }
}

/** A fake platform; e2e/ tests the commands with a real one. */
class FakeEmulator implements Emulator {
  readonly baseUrl = 'http://127.0.0.1:4700';
  readonly metaUrl = 'http://127.0.0.1:4700/meta';
  readonly securityUrl = 'http://127.0.0.1:4700/security';
  readonly gatewayUrl = 'http://127.0.0.1:4701';
  readonly crmUrl = 'https://127.0.0.1:4702';
  readonly smtpUrl = 'smtp://127.0.0.1:4703';
  readonly scmUrl = 'http://127.0.0.1:4702';
  readonly scmToken = 'made-for-this-folder';
  windowUrl() {
    return `${this.baseUrl}/ui/`;
  }
  readonly worldId = '6b8c1e7c-33c4-4d3a-8c0f-2f2b7b2f9a11';
  readonly dataDir = folder;
  readonly rootCredentials = {
    username: 'root',
    password: 'terrarium',
    apiKey: 'the-key',
    apiSecret: 'the-secret',
    apiSecretFile: join(folder, 'root-key.json'),
    generated: true,
  };
  readonly tour = { leadUrl: 'http://127.0.0.1:4701/demo/lead' };
  isStopped = false;
  async stop(): Promise<void> {
    this.isStopped = true;
  }
}

/** Runs `terrarium ARGS` with a fake platform until it waits for a signal. */
async function started(args: string[], terminal = new TestTerminal()) {
  const emulator = new FakeEmulator();
  const configs: Config[] = [];
  const ended = runCommandLine(args, terminal, async (config) => {
    configs.push(config);
    return emulator;
  });
  while (!terminal.out.some((line) => line.includes('Ctrl+C'))) await once(terminal, 'line');
  return { terminal, emulator, ended, config: configs[0] };
}

async function failing(args: string[], failure: unknown = new Error('not reached')) {
  const terminal = new TestTerminal();
  const exitCode = await runCommandLine(args, terminal, () => Promise.reject(failure));
  return { exitCode, complaint: terminal.complaints.join('\n') };
}

describe('terrarium start', () => {
  it.each([[[]], [['start']], [['start', '--headless']], [['--headless']]])(
    'runs with the arguments %j, too',
    async (args) => {
      const { terminal, ended, config } = await started(args);
      expect(config?.headless).toBe(args.includes('--headless'));
      terminal.signals.emit('SIGTERM');
      expect(await ended).toBe(0);
    },
  );

  it('accepts settings as flags and from the environment', async () => {
    const terminal = new TestTerminal();
    terminal.env = { TERRARIUM_GATEWAY_PORT: '0' };
    const args = ['--base-port', '0', '--limits-log-lines=5', '--seed', 'empty', '--data', 'here'];
    const { config, ended } = await started(args, terminal);
    expect(config).toMatchObject({ basePort: 0, gatewayPort: 0, seed: 'empty', data: join(folder, 'here') });
    expect(config?.limits.logLines).toBe(5);
    terminal.signals.emit('SIGINT');
    await ended;
  });

  it('prints the addresses, the credentials and a first command to try', async () => {
    const { terminal, ended } = await started([]);
    terminal.signals.emit('SIGINT');
    await ended;
    const text = terminal.out.join('\n');
    expect(text).toContain('http://127.0.0.1:4700/meta');
    expect(text).toContain('user       root, password terrarium');
    expect(text).toMatch(/curl -H .Content-Type: application\/json. -d .*http:\/\/127\.0\.0\.1:4701\/demo\/lead/);
    expect(text).toContain('curl -u the-key:the-secret http://127.0.0.1:4700/inspect/leads');
    expect(text.includes('\u001b')).toBe(false);
  });

  it('uses colors if the terminal supports them', async () => {
    const terminal = new TestTerminal();
    terminal.hasColour = true;
    const { ended } = await started([], terminal);
    terminal.signals.emit('SIGINT');
    await ended;
    expect(terminal.out[0]).toBe('\u001b[1mTerrarium is ready.\u001b[22m');
  });

  it('writes the ready file when it is ready, and removes it when it stops', async () => {
    const readyFile = join(folder, 'ready.json');
    writeFileSync(readyFile, 'of an earlier run');
    const { terminal, emulator, ended } = await started(['--ready-file', 'ready.json']);
    expect(JSON.parse(readFileSync(readyFile, 'utf8'))).toEqual({
      baseUrl: emulator.baseUrl,
      metaUrl: emulator.metaUrl,
      securityUrl: emulator.securityUrl,
      gatewayUrl: emulator.gatewayUrl,
      crmUrl: emulator.crmUrl,
      smtpUrl: emulator.smtpUrl,
      scmUrl: emulator.scmUrl,
      windowUrl: `${emulator.baseUrl}/ui/`,
      pid: 4242,
      dataDir: folder,
    });
    expect(readdirSync(folder).sort()).toEqual(['instance.json', 'ports.json', 'ready.json']);
    expect(JSON.parse(readFileSync(join(folder, 'instance.json'), 'utf8'))).toMatchObject({
      pid: 4242,
      crmUrl: emulator.crmUrl,
      smtpUrl: emulator.smtpUrl,
      scmUrl: emulator.scmUrl,
      dataDir: folder,
    });
    terminal.signals.emit('SIGTERM');
    await ended;
    expect(readdirSync(folder)).toEqual(['ports.json']);
  });

  it('removes the ready file of an earlier run even if the start fails', async () => {
    writeFileSync(join(folder, 'ready.json'), 'of an earlier run');
    await failing(['--ready-file', 'ready.json'], new UserError('no'));
    expect(existsSync(join(folder, 'ready.json'))).toBe(false);
  });

  it('stops the platform if the ready file cannot be written', async () => {
    const terminal = new TestTerminal();
    const emulator = new FakeEmulator();
    const args = ['--ready-file', join('missing', 'ready.json')];
    expect(await runCommandLine(args, terminal, async () => emulator)).toBe(2);
    expect(terminal.complaints.join()).toContain('the ready file cannot be written');
    expect(emulator.isStopped).toBe(true);
  });

  it('stops the platform on a signal, and ends at once on a second one', async () => {
    const { terminal, emulator, ended } = await started([]);
    terminal.signals.emit('SIGINT');
    terminal.signals.emit('SIGINT'); // npm's copy of the first
    expect(terminal.exits).toEqual([]);
    terminal.timeMs += 3_000;
    terminal.signals.emit('SIGINT');
    terminal.signals.emit('SIGTERM');
    expect(terminal.exits).toEqual([130, 143]);
    expect(await ended).toBe(0);
    expect(emulator.isStopped).toBe(true);
  });

  it('stops right after the start if a signal came during the start', async () => {
    const terminal = new TestTerminal();
    const emulator = new FakeEmulator();
    const ended = runCommandLine([], terminal, async () => {
      terminal.signals.emit('SIGTERM');
      return emulator;
    });
    expect(await ended).toBe(0);
    expect(emulator.isStopped).toBe(true);
  });
});

describe('a start that fails because of', () => {
  it('an invalid flag prints one line, with exit code 2', async () => {
    expect(await failing(['--base-prot', '1'])).toEqual({
      exitCode: 2,
      complaint: "terrarium: unknown option '--base-prot'\n(Did you mean --base-port?)",
    });
    expect(await failing(['start', '--base-port', 'http'])).toEqual({
      exitCode: 2,
      complaint: 'terrarium: --base-port is "http"; it must be a port number from 0 to 65535 (0 = choose a free one)',
    });
    expect((await failing(['stat'])).complaint).toBe("terrarium: unknown command 'stat'\n(Did you mean start?)");
    expect((await failing(['mails', 'delete', '--json'])).complaint).toBe(
      "terrarium: unknown command 'mails delete'. The commands of mails: list, show, clear, wait",
    );
  });

  it('help for an unknown command says that there is none, below the general help, with exit code 2', async () => {
    const { exitCode, complaint } = await failing(['help', 'nope']);
    expect(exitCode).toBe(2);
    expect(complaint).toMatch(/^Usage: [\s\S]*\nterrarium: unknown command 'nope'$/);
    expect((await failing(['pipeline', 'help', 'nope', '-x'])).complaint).toMatch(
      /\nterrarium: unknown command 'nope'$/,
    );
    expect((await failing(['help', '--help'])).complaint).not.toContain('unknown command');
    expect((await failing(['pipeline'])).complaint).not.toContain('unknown command');
  });

  it.each([[[]], [['contact-form']]])('logs %j names the option --since if its value is not a time', async (name) => {
    expect(await failing(['logs', ...name, '--since', '5x'])).toEqual({
      exitCode: 2,
      complaint:
        'terrarium: --since is "5x"; it must be a number with s, m, h or d such as 15m, an ISO timestamp, or all',
    });
  });

  it('a port in use prints one line with the port, with exit code 2', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const [failure] = await once(createServer().listen(port, '127.0.0.1'), 'error');
    server.close();
    const { exitCode, complaint } = await failing([], failure);
    expect(exitCode).toBe(2);
    expect(complaint).toContain(`port ${port} on 127.0.0.1 is in use`);
    expect(complaint.split('\n')).toHaveLength(1);
  });

  it('a data folder that cannot be used prints one line with the path, with exit code 2', async () => {
    const file = join(folder, 'a file');
    writeFileSync(file, '');
    let failure: unknown;
    try {
      readdirSync(file);
    } catch (error) {
      failure = error;
    }
    const { exitCode, complaint } = await failing([], failure);
    expect(exitCode).toBe(2);
    expect(complaint).toContain(file);
    expect(complaint.split('\n')).toHaveLength(1);
  });

  it('a damaged world or an invalid seed prints the message of the error, with exit code 2', async () => {
    const damaged = Object.assign(new Error('world.json, line 3: not JSON; it was left as it is'), {
      name: 'StoreError',
    });
    expect(await failing([], damaged)).toEqual({ exitCode: 2, complaint: `terrarium: ${damaged.message}` });
  });

  it('an internal error prints the stack to report, with exit code 1', async () => {
    const { exitCode, complaint } = await failing([], new TypeError('x is not a function'));
    expect(exitCode).toBe(1);
    expect(complaint).toMatch(/please report it: TypeError: x is not a function\n +at /);
  });

  it('an internal error prints the causes of the error, with their stacks', async () => {
    const cause = new TypeError('Invalid URL', { cause: 'text' });
    const { complaint } = await failing([], new Error("plugin 'recorder' failed", { cause }));
    expect(complaint).toMatch(
      /Error: plugin 'recorder' failed\n +at [\s\S]*\ncaused by: TypeError: Invalid URL\n +at [\s\S]*\ncaused by: text$/,
    );
    const endless = new Error('endless');
    endless.cause = endless;
    expect((await failing([], endless)).complaint.match(/caused by/g)).toHaveLength(4);
  });
});

describe('terrarium config', () => {
  it('prints each value and its origin, with secrets masked', async () => {
    const terminal = new TestTerminal();
    terminal.env = { TERRARIUM_ROOT_PASSWORD: 'hunter2', TERRARIUM_BASE_PORT: '5000' };
    expect(await runCommandLine(['config', '--seed', 'empty'], terminal, () => Promise.reject())).toBe(0);
    const lines = terminal.out.map((line) => line.split(/ {2,}/));
    expect(lines).toContainEqual(['basePort', '5000', 'TERRARIUM_BASE_PORT']);
    expect(lines).toContainEqual(['seed', 'empty', '--seed']);
    expect(lines).toContainEqual(['gatewayPort', '4701', 'default']);
    expect(lines).toContainEqual(['rootPassword', '****', 'TERRARIUM_ROOT_PASSWORD']);
    expect(terminal.out.join()).not.toContain('hunter2');
  });

  it('shows the settings that --instance implies', async () => {
    const terminal = new TestTerminal();
    terminal.env = { TERRARIUM_DATA: 'elsewhere', TERRARIUM_BASE_PORT: '5000', TERRARIUM_SCM_PORT: '5002' };
    const args = ['config', '--json', '--instance', 'shop', '--gateway-port', '5001'];
    expect(await runCommandLine(args, terminal, () => Promise.reject())).toBe(0);
    expect(JSON.parse(terminal.out.join('\n'))).toMatchObject({
      data: { value: join(folder, '.terrarium', 'instances', 'shop'), origin: '--instance' },
      basePort: { value: 0, origin: '--instance' },
      gatewayPort: { value: 5001, origin: '--gateway-port' },
      scmPort: { value: 0, origin: '--instance' },
    });
  });

  it('prints the settings as JSON', async () => {
    const terminal = new TestTerminal();
    writeFileSync(
      join(folder, 'terrarium.json'),
      '{"limits": {"lambdaQueue": 7}, "rootApiKey": "k", "rootApiSecret": "s"}',
    );
    expect(await runCommandLine(['config', '--json'], terminal, () => Promise.reject())).toBe(0);
    expect(JSON.parse(terminal.out.join('\n'))).toMatchObject({
      'limits.lambdaQueue': { value: 7, origin: 'terrarium.json' },
      rootApiSecret: { value: '****', origin: 'terrarium.json' },
      publicBaseUrl: { value: null, origin: 'default' },
    });
  });
});

it('start takes no option that the page on settings does not name', async () => {
  const terminal = new TestTerminal();
  await runCommandLine(['start', '--help'], terminal, () => Promise.reject());
  const options = terminal.out.join('\n').match(/(?<=^ +)--[a-z-]+(?= )/gm) ?? [];
  expect(options.length).toBeGreaterThan(40);
  const page = readFileSync(packageFile('docs/reference/settings.md'), 'utf8');
  const ofTheCommand = ['--detach', '--json'];
  expect(options.filter((option) => !page.includes(`\`${option}\``) && !ofTheCommand.includes(option))).toEqual([]);
});

describe('terrarium pipeline', () => {
  it.each(['run', 'demo', 'retry', 'stop'])(
    '%s takes no option that the page on pipelines does not name',
    async (subcommand) => {
      const terminal = new TestTerminal();
      await runCommandLine(['pipeline', subcommand, '--help'], terminal, () => Promise.reject());
      const options = terminal.out.join('\n').match(/(?<=^ +)--[a-z-]+(?= )/gm) ?? [];
      expect(options).toEqual(expect.arrayContaining(['--account', '--base-url', '--json']));
      const page = readFileSync(packageFile('docs/guides/run-a-pipeline.md'), 'utf8');
      expect(options.filter((option) => !page.includes(`\`${option}`))).toEqual([]);
    },
  );
});
