// The package with package managers and runtimes other than npm and Node.js: installed from a registry on loopback into an empty
// project, then used as a command and as a library.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { MANAGERS } from '../scripts/extra-packages.mjs';
import { startEngineServer } from '../server/testing/engine-server.ts';
import { type LoopbackRegistry, startLoopbackRegistry } from './loopback-registry.ts';
import { packPackage } from './packed-package.ts';

const RUN_TIMEOUT_MS = 120_000;
const FORM = {
  payload: { firstName: 'Ada', lastName: 'Byrne', company: 'Engines', phone: '1', email: 'a@example.com' },
};
/** A command that `terrarium exec` runs: sends the form of the demo and opens the window. */
const COMMAND = `
const { TERRARIUM_GATEWAY_URL: gateway, TERRARIUM_BASE_URL: base } = process.env;
const headers = { 'Content-Type': 'application/json' };
const sent = await fetch(gateway + '/website/lead', { method: 'POST', headers, body: '${JSON.stringify(FORM)}' });
console.log(await sent.text(), (await fetch(base + '/ui/')).status);
`;
const LIBRARY = `
import { startEmulator } from 'terrarium-emulator';
const platform = await startEmulator({ seed: 'demo', containers: { engine: 'none' } });
const { outcome } = await platform.invoke('contact-form', ${JSON.stringify(FORM)});
console.log(outcome.result ?? outcome.message, (await platform.leads.list()).length);
await platform.stop();
`;
const FOLDER_LAMBDAS = `
import { startEmulator } from 'terrarium-emulator';
const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } });
const results = [];
for (const file of ['common', 'module']) {
  await platform.deploy(file, { folder: 'lambda', handler: file + '.run' });
  const { outcome } = await platform.invoke(file);
  results.push(outcome.result ?? outcome.message);
}
console.log(...results);
await platform.stop();
`;

let folder: string;
let project: string;
let registry: LoopbackRegistry;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-managers-'));
  const { tarball, manifest } = await packPackage(folder);
  registry = await startLoopbackRegistry(tarball, manifest);
});
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, maxRetries: 3 });
});

beforeEach(async () => {
  project = await mkdtemp(join(folder, 'project-'));
  const write = (name: string, text: string) => writeFile(join(project, name), text);
  await mkdir(join(folder, 'home'), { recursive: true });
  await write('package.json', '{ "name": "consumer", "private": true, "type": "module" }');
  await write('.npmrc', `registry=${registry.url}\ncache=${join(folder, 'cache')}\naudit=false\nfund=false\n`);
  await write('command.mjs', COMMAND);
  await write('library.mjs', LIBRARY);
});

/** Runs a program in the project and returns its last line of output. */
async function lastLine([file = '', ...args]: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const home = join(folder, 'home');
  const clean = { PATH: `${process.env.PATH}`, HOME: home, NO_COLOR: '1', NPM_CONFIG_REGISTRY: registry.url, ...env };
  const { stdout } = await promisify(execFile)(file, args, { cwd: project, env: clean, timeout: RUN_TIMEOUT_MS });
  return stdout.trim().split('\n').at(-1) ?? '';
}

const { pnpm, yarn, bun, bunx, deno } = MANAGERS;
const NAME = 'terrarium-emulator';
const EXEC = ['exec', '--', process.execPath, 'command.mjs'];

it.each([
  ['npx', undefined, ['npx', '--yes', NAME], undefined],
  ['pnpm', [...pnpm, 'add', NAME], [...pnpm, 'exec', 'terrarium'], ['node']],
  ['Bun', [...bun, 'add', NAME], [...bunx, 'terrarium'], [...bun]],
  ['Bun instead of Node.js', [...bun, 'add', NAME], [...bunx, '--bun', 'terrarium'], undefined],
  ['Deno', [...deno, 'add', `npm:${NAME}`], [...deno, 'run', '-A', `npm:${NAME}`], [...deno, 'run', '-A']],
])('%s installs it, runs its command and loads the library', async (...[, install, command, runtime]) => {
  if (install) await lastLine(install);
  expect(await lastLine([...command, ...EXEC])).toBe('SUCCESS 200');
  if (runtime) expect(await lastLine([...runtime, 'library.mjs'])).toBe('SUCCESS 1');
});

it('Deno ends with the command although an engine has not answered', async () => {
  const engine = await startEngineServer();
  onTestFinished(() => engine.stop());
  const watched = new Promise<void>((resolve) => {
    engine.answer(/^\/events/, () => resolve());
  });
  engine.answer(/^\/when-watched/, (response) => watched.then(() => response.end()));
  await lastLine([...deno, 'add', `npm:${NAME}`]);
  const wait = [process.execPath, '-e', `fetch('${engine.url.replace('tcp', 'http')}/when-watched')`];
  const env = { DOCKER_HOST: engine.url };
  expect(await lastLine([...deno, 'run', '-A', `npm:${NAME}`, 'exec', '--', ...wait], env)).toBe('');
});

it("Yarn installs it with Plug'n'Play, runs its command and loads the library", async () => {
  const settings = `npmRegistryServer: "${registry.url.replace(/\/$/, '')}"
unsafeHttpWhitelist: ["127.0.0.1"]
enableTelemetry: false
enableGlobalCache: false
npmMinimalAgeGate: 0
`;
  await writeFile(join(project, '.yarnrc.yml'), settings);
  await writeFile(join(project, 'yarn.lock'), '');
  await lastLine([...yarn, 'add', NAME]);
  expect(await lastLine([...yarn, 'terrarium', ...EXEC])).toBe('SUCCESS 200');
  expect(await lastLine([...yarn, 'node', 'library.mjs'])).toBe('SUCCESS 1');

  // A lambda in a folder of the project finds the packages of the project, which are in archives.
  const files = {
    'stamp/package.json': '{ "name": "stamp", "version": "1.0.0" }',
    'stamp/index.js': "exports.stamp = 'stamped';",
    'lambda/common.cjs': "exports.run = async () => require('stamp').stamp;",
    'lambda/module.mjs': "import { stamp } from 'stamp';\nexport const run = async () => stamp;",
    'folder.mjs': FOLDER_LAMBDAS,
  };
  for (const name of ['stamp', 'lambda']) await mkdir(join(project, name));
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
  await lastLine([...yarn, 'add', 'stamp@file:./stamp']);
  expect(await lastLine([...yarn, 'node', 'folder.mjs'])).toBe('stamped stamped');
});

it('says that lambdas need Node.js where a runtime has none, or an old one', async () => {
  await lastLine([...bun, 'add', NAME]);
  const old = await mkdtemp(join(folder, 'old-node-'));
  await writeFile(join(old, 'node'), '#!/bin/sh\necho v18.20.8\n', { mode: 0o755 });
  const [program = ''] = bun;
  const cli = join('node_modules', NAME, 'entries', 'terrarium.cjs');
  const sentence =
    /lambdas need Node\.js: the platform runs under Bun [\d.]+, and PATH has no node of version 20\.19\.0 or later/;
  for (const PATH of [folder, old]) expect(await lastLine([program, 'library.mjs'], { PATH })).toMatch(sentence);
  const doctor = await promisify(execFile)(program, [cli, 'doctor', '--base-port', '0', '--gateway-port', '0'], {
    cwd: project,
    env: { PATH: old, HOME: folder },
  });
  expect(doctor.stdout).toMatch(sentence);
});
