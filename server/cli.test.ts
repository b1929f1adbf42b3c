import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let folder: string;
const running: ChildProcess[] = [];

// The command as it is shipped: what `npm start` runs, built if it is stale.
beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
  folder = mkdtempSync(join(tmpdir(), 'terrarium command '));
}, 120_000);
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 3 }));

const FREE_PORTS = ['--base-port', '0', '--gateway-port', '0'];

/** Runs the command in a folder of its own; output is complete when `ended` is. */
function terrarium(...args: string[]) {
  const child = spawn(process.execPath, [join(root, 'dist', 'server', 'cli.js'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  running.push(child);
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, ...output }));
  const greeted = async () => {
    while (!output.out.includes('Ctrl+C')) await Promise.race([once(child.stdout, 'data'), ended.then(fail)]);
  };
  return { child, ended, greeted, output };
}

function fail({ err }: { err: string }): never {
  throw new Error(`it ended instead of starting: ${err}`);
}

describe.skipIf(process.platform === 'win32')('terrarium start', () => {
  it('answers once the ready file is there, and ends with exit code 0 on SIGTERM and SIGINT', async () => {
    const readyFile = join(folder, 'ready.json');
    const keys: (string | undefined)[] = [];
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { child, ended, greeted, output } = terrarium('--ready-file', 'ready.json', '--headless', ...FREE_PORTS);
      await greeted();
      const ready = JSON.parse(readFileSync(readyFile, 'utf8'));
      expect(ready).toMatchObject({ pid: child.pid, dataDir: join(folder, '.terrarium') });
      const health = await fetch(`${ready.metaUrl}/health`);
      expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: 'healthy' })]);
      keys.push(/API key +(\S+)/.exec(output.out)?.[1]);
      child.kill(signal);
      expect(await ended).toMatchObject({ exitCode: 0, err: '' });
      expect(existsSync(readyFile)).toBe(false);
    }
    expect(keys[0]).toMatch(/./);
    expect(keys[1]).toBe(keys[0]);
  });

  it('does not outlive the npm that started it', async () => {
    const args = ['start', '--', '--data', ':memory:', '--seed', 'empty', '--ready-file', join(folder, 'npm.json')];
    const npm = spawn('npm', [...args, ...FREE_PORTS], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    while (!out.includes('Ctrl+C')) await once(npm.stdout, 'data');
    npm.kill('SIGTERM');
    // The pipe closes when the last process that holds it has ended: not npm, but the server.
    await once(npm.stdout, 'close');
    expect(out).toContain('SIGTERM: stopping');
    expect(existsSync(join(folder, 'npm.json'))).toBe(false);
  });

  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  it.skipIf(!hasCurl)('prints commands that work when they are pasted', async () => {
    const { greeted, output } = terrarium('--data', ':memory:', ...FREE_PORTS);
    await greeted();
    const commands = output.out.match(/^ {2}curl .*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    const answers = [];
    for (const command of commands) answers.push((await promisify(execFile)('sh', ['-c', `${command} -sS`])).stdout);
    expect(answers[0]).toBe('SUCCESS');
    expect(JSON.parse(answers[1] ?? '')).toHaveLength(1);
  });

  it('says in one sentence that a port is in use, and ends with exit code 2', async () => {
    const first = terrarium('--data', ':memory:', ...FREE_PORTS);
    await first.greeted();
    const port = /gateway +http:\/\/127\.0\.0\.1:(\d+)/.exec(first.output.out)?.[1] ?? '';
    const { exitCode, err } = await terrarium('--data', ':memory:', '--base-port', '0', '--gateway-port', port).ended;
    expect([exitCode, err.trim().split('\n')]).toEqual([
      2,
      [expect.stringContaining(`terrarium: port ${port} on 127.0.0.1 is in use`)],
    ]);
  });

  it('says in one sentence that a data folder or a seed cannot be used, and ends with exit code 2', async () => {
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
