import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';

/* Imitates Windows in a module that is loaded first: a file that is open cannot be replaced, a folder in use cannot be removed. */
const PRELOAD = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const failure = (code, path) => Object.assign(new Error(code + ': ' + path), { code, path });
const refused = new Map();
const isRefused = (to) => {
  const count = refused.get(to) ?? 0;
  refused.set(to, count + 1);
  return fs.existsSync(to) && count % 3 < 2;
};
const { rename, rm } = fs.promises;
const { renameSync } = fs;
fs.promises.rename = async (from, to) => {
  if (isRefused(String(to))) throw failure('EPERM', to);
  return rename(from, to);
};
fs.renameSync = (from, to) => {
  if (isRefused(String(to))) throw failure('EPERM', to);
  return renameSync(from, to);
};
fs.promises.rm = async (path, options) => {
  if (options?.recursive && /lambdas/.test(String(path)) && fs.existsSync(path)) throw failure('EBUSY', path);
  return rm(path, options);
};
syncBuiltinESMExports();
`;

let cli: CliRunner;
let env: Record<string, string>;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  const preload = join(cli.folder, 'preload.mjs');
  writeFileSync(preload, PRELOAD);
  env = { NODE_OPTIONS: `--import=${pathToFileURL(preload)}`, TMPDIR: cli.folder };
});
afterAll(() => cli?.close());

it('a platform starts, keeps changes, runs lambdas, stops and starts again while files are in use for a moment', async () => {
  for (const _run of ['first', 'second', 'third']) {
    const script = 'terrarium invoke contact-form --event {} --json && terrarium snapshot save now-$$';
    const commandLine = script.replaceAll('terrarium', CliRunner.command);
    const { exitCode, out, err } = await cli.run(['exec', '--data', 'kept', '--', 'sh', '-c', commandLine], { env });
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toContain('"ok": true');
  }
});

it('the library stops without an error if a program still has the folder of a lambda open', async () => {
  const script = `
    import { startEmulator } from ${JSON.stringify(pathToFileURL(packageFile('dist/server/library.js')).href)};
    const platform = await startEmulator({ containers: { engine: 'none' } });
    await platform.invoke('order-status', {}).catch(() => {});
    await platform.stop();
    console.log('stopped');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...env },
  });
  expect(stdout).toBe('stopped\n');
  expect(readdirSync(cli.folder).some((name) => name.startsWith('terrarium-lambdas-'))).toBe(true);
});
