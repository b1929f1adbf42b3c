import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../config.ts';
import type { Config } from '../config-schema.ts';
import type { Emulator } from '../emulator.ts';
import { packageFile } from '../package-file.ts';
import { runCommandLine } from './program.ts';
import type { Terminal } from './terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium cli '));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A terminal that keeps what it is told, and tells of each line. */
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

/** The emulator as the command sees it; the real one is walked through in e2e/. */
class FakeEmulator implements Emulator {
  readonly baseUrl = 'http://127.0.0.1:4700';
  readonly metaUrl = 'http://127.0.0.1:4700/meta';
  readonly securityUrl = 'http://127.0.0.1:4700/security';
  readonly gatewayUrl = 'http://127.0.0.1:4701';
  readonly crmUrl = 'https://127.0.0.1:4702';
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

/** Runs `terrarium ARGS` with a fake emulator until it waits for its end. */
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
  it.each([[[]], [['start']], [['start', '--headless']], [['--headless']]])('is also what %j does', async (args) => {
    const { terminal, ended, config } = await started(args);
    expect(config?.headless).toBe(args.includes('--headless'));
    terminal.signals.emit('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('takes every setting as a flag, and from the environment', async () => {
    const terminal = new TestTerminal();
    terminal.env = { TERRARIUM_GATEWAY_PORT: '0' };
    const args = ['--base-port', '0', '--limits-log-lines=5', '--seed', 'empty', '--data', 'here'];
    const { config, ended } = await started(args, terminal);
    expect(config).toMatchObject({ basePort: 0, gatewayPort: 0, seed: 'empty', data: join(folder, 'here') });
    expect(config?.limits.logLines).toBe(5);
    terminal.signals.emit('SIGINT');
    await ended;
  });

  it('says where the platform is, how to sign in and what to try', async () => {
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

  it('uses colour where the terminal has it', async () => {
    const terminal = new TestTerminal();
    terminal.hasColour = true;
    const { ended } = await started([], terminal);
    terminal.signals.emit('SIGINT');
    await ended;
    expect(terminal.out[0]).toBe('\u001b[1mTerrarium is ready.\u001b[22m');
  });

  it('writes the ready file when it is ready and takes it away when it stops', async () => {
    const readyFile = join(folder, 'ready.json');
    writeFileSync(readyFile, 'of an earlier run');
    const { terminal, emulator, ended } = await started(['--ready-file', 'ready.json']);
    expect(JSON.parse(readFileSync(readyFile, 'utf8'))).toEqual({
      baseUrl: emulator.baseUrl,
      metaUrl: emulator.metaUrl,
      securityUrl: emulator.securityUrl,
      gatewayUrl: emulator.gatewayUrl,
      windowUrl: `${emulator.baseUrl}/ui/`,
      pid: 4242,
      dataDir: folder,
    });
    expect(readdirSync(folder).sort()).toEqual(['instance.json', 'ports.json', 'ready.json']);
    expect(JSON.parse(readFileSync(join(folder, 'instance.json'), 'utf8'))).toMatchObject({
      pid: 4242,
      dataDir: folder,
    });
    terminal.signals.emit('SIGTERM');
    await ended;
    expect(readdirSync(folder)).toEqual(['ports.json']);
  });

  it('leaves no ready file of an earlier run behind when the start fails', async () => {
    writeFileSync(join(folder, 'ready.json'), 'of an earlier run');
    await failing(['--ready-file', 'ready.json'], new UserError('no'));
    expect(existsSync(join(folder, 'ready.json'))).toBe(false);
  });

  it('stops the emulator when the ready file cannot be written', async () => {
    const terminal = new TestTerminal();
    const emulator = new FakeEmulator();
    const args = ['--ready-file', join('missing', 'ready.json')];
    expect(await runCommandLine(args, terminal, async () => emulator)).toBe(2);
    expect(terminal.complaints.join()).toContain('the ready file cannot be written');
    expect(emulator.isStopped).toBe(true);
  });

  it('stops the emulator on a signal, and ends at once on a second one', async () => {
    const { terminal, emulator, ended } = await started([]);
    terminal.signals.emit('SIGINT');
    terminal.signals.emit('SIGINT'); // npm's copy of the first
    expect(terminal.exits).toEqual([]);
    terminal.timeMs += 1000;
    terminal.signals.emit('SIGINT');
    terminal.signals.emit('SIGTERM');
    expect(terminal.exits).toEqual([130, 143]);
    expect(await ended).toBe(0);
    expect(emulator.isStopped).toBe(true);
  });

  it('stops right after the start when the signal came meanwhile', async () => {
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

describe('what cannot be started', () => {
  it('is a bad flag: one sentence and exit code 2', async () => {
    expect(await failing(['--base-prot', '1'])).toEqual({
      exitCode: 2,
      complaint: "terrarium: unknown option '--base-prot'\n(Did you mean --base-port?)",
    });
    expect(await failing(['start', '--base-port', 'http'])).toEqual({
      exitCode: 2,
      complaint: 'terrarium: --base-port is "http"; it has to be a port number from 0 to 65535 (0 = choose a free one)',
    });
    expect((await failing(['stat'])).complaint).toBe("terrarium: unknown command 'stat'\n(Did you mean start?)");
  });

  it('is a port in use: one sentence that names it and exit code 2', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const [failure] = await once(createServer().listen(port, '127.0.0.1'), 'error');
    holder.close();
    const { exitCode, complaint } = await failing([], failure);
    expect(exitCode).toBe(2);
    expect(complaint).toContain(`port ${port} on 127.0.0.1 is in use`);
    expect(complaint.split('\n')).toHaveLength(1);
  });

  it('is a data folder that cannot be used: one sentence that names it and exit code 2', async () => {
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

  it('is a damaged world or a bad seed: the sentence of the room that found it and exit code 2', async () => {
    const damaged = Object.assign(new Error('world.json, line 3: not JSON; it was left as it is'), {
      name: 'StoreError',
    });
    expect(await failing([], damaged)).toEqual({ exitCode: 2, complaint: `terrarium: ${damaged.message}` });
  });

  it('is a fault of the emulator: exit code 1, with the stack to report', async () => {
    const { exitCode, complaint } = await failing([], new TypeError('x is not a function'));
    expect(exitCode).toBe(1);
    expect(complaint).toMatch(/please report it: TypeError: x is not a function\n +at /);
  });
});

describe('terrarium config', () => {
  it('prints each value and its origin, and no secret', async () => {
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

  it('says what the name of an instance stands for', async () => {
    const terminal = new TestTerminal();
    terminal.env = { TERRARIUM_DATA: 'elsewhere', TERRARIUM_BASE_PORT: '5000' };
    const args = ['config', '--json', '--instance', 'shop', '--gateway-port', '5001'];
    expect(await runCommandLine(args, terminal, () => Promise.reject())).toBe(0);
    expect(JSON.parse(terminal.out.join('\n'))).toMatchObject({
      data: { value: join(folder, '.terrarium', 'instances', 'shop'), origin: '--instance' },
      basePort: { value: 0, origin: '--instance' },
      gatewayPort: { value: 5001, origin: '--gateway-port' },
    });
  });

  it('prints the same as JSON', async () => {
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

describe('terrarium pipeline', () => {
  it.each(['run', 'demo', 'retry', 'stop'])(
    '%s takes no option that the page on pipelines does not name',
    async (word) => {
      const terminal = new TestTerminal();
      await runCommandLine(['pipeline', word, '--help'], terminal, () => Promise.reject());
      const options = terminal.out.join('\n').match(/(?<=^ +)--[a-z-]+(?= )/gm) ?? [];
      expect(options).toEqual(expect.arrayContaining(['--account', '--base-url', '--json']));
      const page = readFileSync(packageFile('docs/pipelines.md'), 'utf8');
      expect(options.filter((option) => !page.includes(`\`${option}`))).toEqual([]);
    },
  );
});
