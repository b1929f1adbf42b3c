import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const validator = join(root, 'node_modules', '@action-validator', 'cli', 'cli.mjs');
const workflows = readdirSync(join(root, '.github', 'workflows'));

let clone: string;
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'terrarium-workflows-'));
  cpSync(join(root, '.github'), join(clone, '.github'), { recursive: true });
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const validate = (file: string) => run(process.execPath, [validator, file]);

it.each(workflows)('the schema of workflows allows %s, and refuses a misspelled key in it', async (name) => {
  const file = join(clone, '.github', 'workflows', name);
  await validate(file);
  writeFileSync(file, readFileSync(file, 'utf8').replace('runs-on', 'runs-at'));
  await expect(validate(file)).rejects.toThrow();
});

it('the job that runs the whole suite installs what the tests need and a runner does not have', () => {
  const { jobs } = parse(readFileSync(join(root, '.github', 'workflows', 'ci.yml'), 'utf8'));
  const commands = jobs.engines.steps.map(({ run: command = '' }: { run?: string }) => command).join('\n');
  const machine = readFileSync(join(root, 'scripts', 'test-machine.mjs'), 'utf8');
  const needed = Array.from(machine.matchAll(/debian: '([^']+)'/g), ([, name = '']) => name);
  const onRunner = ['chromium-headless-shell', 'docker.io', 'iptables', 'git'];
  expect(needed.filter((name) => !onRunner.includes(name) && !commands.includes(` ${name}`))).toEqual([]);
});

it('the journey runs on each system under each version of Node.js that package.json supports', () => {
  const { jobs } = parse(readFileSync(join(root, '.github', 'workflows', 'ci.yml'), 'utf8'));
  const { os, node } = jobs.journey.strategy.matrix;
  expect(os).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest']);
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const supported = engines.node.split(' || ').map((range: string) => range.match(/\d+/)?.[0]);
  expect(node.map((version: string) => version.split('.')[0])).toEqual(supported);
});
