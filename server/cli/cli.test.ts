import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../testing/command.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
let cli: CliRunner;
let folder: string;

beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  folder = cli.folder;
});
afterAll(() => cli?.close());

const FREE_PORTS = ['--base-port', '0', '--gateway-port', '0'];

const terrarium = (...args: string[]) => cli.start(args);

describe.skipIf(process.platform === 'win32')('terrarium start', () => {
  it('responds once the ready file exists, and ends with exit code 0 on SIGTERM and SIGINT', async () => {
    const readyFile = join(folder, 'ready.json');
    const keys: (string | undefined)[] = [];
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { child, ended, waitForOutput } = terrarium('--ready-file', 'ready.json', '--headless', ...FREE_PORTS);
      const greeting = await waitForOutput('Ctrl+C');
      const ready = JSON.parse(readFileSync(readyFile, 'utf8'));
      expect(ready).toMatchObject({ pid: child.pid, dataDir: join(folder, '.terrarium') });
      const health = await fetch(`${ready.metaUrl}/health`);
      expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: 'healthy' })]);
      keys.push(/API key +(\S+)/.exec(greeting)?.[1]);
      child.kill(signal);
      expect(await ended).toMatchObject({ exitCode: 0, err: '' });
      expect(existsSync(readyFile)).toBe(false);
    }
    expect(keys[0]).toMatch(/./);
    expect(keys[1]).toBe(keys[0]);
  });

  it('ends with the npm process that started it', async () => {
    const args = ['start', '--', '--data', ':memory:', '--seed', 'empty', '--ready-file', join(folder, 'npm.json')];
    const npm = spawn('npm', [...args, ...FREE_PORTS], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    while (!out.includes('Ctrl+C')) await once(npm.stdout, 'data');
    npm.kill('SIGTERM');
    // The pipe closes when the server, the last process that has it open, has ended.
    await once(npm.stdout, 'close');
    expect(out).toContain('SIGTERM: stopping');
    expect(existsSync(join(folder, 'npm.json'))).toBe(false);
  });

  it('prints commands that work when pasted into a shell', async () => {
    const greeting = await terrarium('--data', ':memory:', ...FREE_PORTS).waitForOutput('Ctrl+C');
    const commands = greeting.match(/^ {2}curl .*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    const answers = [];
    for (const command of commands) answers.push((await promisify(execFile)('sh', ['-c', `${command} -sS`])).stdout);
    expect(answers[0]).toBe('SUCCESS');
    expect(JSON.parse(answers[1] ?? '')).toHaveLength(1);
  });

  it('prints one line and ends with exit code 2 if a port is in use', async () => {
    const greeting = await terrarium('--data', ':memory:', ...FREE_PORTS).waitForOutput('Ctrl+C');
    const port = /gateway +http:\/\/127\.0\.0\.1:(\d+)/.exec(greeting)?.[1] ?? '';
    const { exitCode, err } = await terrarium('--data', ':memory:', '--base-port', '0', '--gateway-port', port).ended;
    expect([exitCode, err.trim().split('\n')]).toEqual([
      2,
      [expect.stringContaining(`terrarium: port ${port} on 127.0.0.1 is in use`)],
    ]);
  });

  it('prints one line and ends with exit code 2 if a data folder or a seed cannot be used', async () => {
    writeFileSync(join(folder, 'no-folder'), '');
    writeFileSync(join(folder, 'bad.yaml'), 'orgs: [');
    for (const args of [
      ['--data', 'no-folder'],
      ['--data', ':memory:', '--seed', 'bad.yaml'],
      ['--data', ':memory:', '--seed', 'missing.yaml'],
    ]) {
      const { exitCode, err } = await terrarium(...args, ...FREE_PORTS).ended;
      expect([exitCode, err.trim().split('\n')]).toEqual([2, [expect.stringContaining(args.at(-1) ?? '')]]);
    }
  });
});

it('prints its configuration without starting anything', async () => {
  const { exitCode, out } = await terrarium('config', '--json').ended;
  expect([exitCode, JSON.parse(out).seed]).toEqual([0, { value: 'demo', origin: 'default' }]);
});
