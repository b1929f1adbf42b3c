import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nodeComplaint } from '../entries/check-node.cjs';
import manifest from '../package.json' with { type: 'json' };
import { findProgram } from './find-program.mjs';

const scripts = dirname(fileURLToPath(import.meta.url));
const NEEDED = [
  'setup.mjs',
  'setup-lock.mjs',
  'build-stamp.mjs',
  'installed-packages.mjs',
  'test-machine.mjs',
  'find-program.mjs',
];

/** Replaces scripts/build.mjs: records that it ran, and fails if the source says so. */
const BUILD = `
import { appendFileSync, readFileSync } from 'node:fs';
import { markBuilt, markUnbuilt, sourceHash } from './build-stamp.mjs';
const hash = sourceHash(process.cwd());
markUnbuilt(process.cwd());
if (readFileSync('server/main.ts', 'utf8').includes('broken')) throw new Error('this source is broken');
appendFileSync('builds.log', 'built ');
markBuilt(process.cwd(), hash);
`;

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'a clone with spaces '));
  for (const folder of ['scripts', 'entries', 'server', 'docs', 'electron', 'renderer', 'sample', 'fixtures/worlds'])
    mkdirSync(join(clone, folder), { recursive: true });
  for (const script of NEEDED) copyFileSync(join(scripts, script), join(clone, 'scripts', script));
  copyFileSync(join(dirname(scripts), 'entries', 'check-node.cjs'), join(clone, 'entries', 'check-node.cjs'));
  write('scripts/build.mjs', BUILD);
  write('server/main.ts', 'first');
  write('tsconfig.json', '{}');
  writePackages('1.0.0');
});
afterEach(() => rmSync(clone, { recursive: true, maxRetries: 3 }));

const write = (file: string, text: string) => writeFileSync(join(clone, file), text);
const builds = () => readFileSync(join(clone, 'builds.log'), 'utf8').trim().split(' ').length;

/** A package whose only dependency lies in a folder, so that npm needs no network. */
function writePackages(version: string): void {
  const manifest = {
    name: 'clone',
    version: '1.0.0',
    engines: { node: '>=20.19' },
    dependencies: { sample: 'file:sample' },
  };
  write('package.json', JSON.stringify(manifest));
  write('sample/package.json', JSON.stringify({ name: 'sample', version }));
  const packages = { '': manifest, 'node_modules/sample': { resolved: 'sample', link: true }, sample: { version } };
  write('package-lock.json', JSON.stringify({ name: 'clone', version: '1.0.0', lockfileVersion: 3, packages }));
}

/** A slow machine gets further lines, of the form `setup: building the server ... 5.0 s`. */
const withoutProgress = (output: string) => output.replace(/^setup: .* \.\.\. [\d.]+ s\n/gm, '');

function setUp(variables: NodeJS.ProcessEnv = {}): Promise<{ exitCode: number; output: string }> {
  const options = { env: { ...process.env, ...variables } };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [join(clone, 'scripts', 'setup.mjs')], options, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, output: withoutProgress(stdout + stderr) }),
    );
  });
}

it('installs and builds in a bare clone, says so, and has nothing to do or say the second time', async () => {
  const first = await setUp();
  expect(first.exitCode).toBe(0);
  expect(first.output).toMatch(
    /^setup: the packages are not installed yet\nsetup: installing packages \(npm ci\) \.\.\.\nsetup: installing packages \(npm ci\): done in [\d.]+ s\nsetup: building the server \.\.\.\nsetup: building the server: done in [\d.]+ s\n$/,
  );
  expect(existsSync(join(clone, 'node_modules', 'sample', 'package.json'))).toBe(true);
  expect(await setUp()).toEqual({ exitCode: 0, output: '' });
  expect(builds()).toBe(1);
});

it('comes before every command that builds, also in a bare clone', () => {
  const commands = Object.entries<string>(manifest.scripts);
  const building = commands.filter(
    ([name, line]) => /(?:build|try-windows)\.mjs/.test(line) && !name.startsWith('pre'),
  );
  expect(building.map(([name]) => name)).toEqual(['try:windows', 'build']);
  const before = ['pretry:windows', 'prebuild', 'prepackage', 'prepack'];
  const lines = before.map((name) => Object(manifest.scripts)[name]);
  expect(lines.filter((line) => !line?.startsWith('node scripts/setup.mjs packages'))).toEqual([]);
});

it('lets npx run the command of the clone', async () => {
  const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
  write('package.json', JSON.stringify({ ...manifest, name: 'clone', bin: { greet: 'entries/greet.cjs' } }));
  write('entries/greet.cjs', "console.log('hello', process.argv[2]);");
  await setUp();
  const npx = promisify(execFile)('npx', ['clone', 'Ada'], { cwd: clone, shell: process.platform === 'win32' });
  expect((await npx).stdout).toBe('hello Ada\n');
});

it('builds again when a source has changed, but not for a test file', async () => {
  await setUp();
  write('server/main.test.ts', 'a test');
  expect((await setUp()).output).toBe('');
  write('server/main.ts', 'second');
  expect((await setUp()).output).toMatch(/^setup: building the server \.\.\.\n/);
  expect(builds()).toBe(2);
});

it('installs again when package-lock.json names other packages', async () => {
  await setUp();
  writePackages('1.0.1');
  expect((await setUp()).output).toMatch(
    /^setup: the installed packages are not those of package-lock\.json \(sample\)\n/,
  );
  expect((await setUp()).output).toBe('');
});

it('does the work once when it runs twice at the same time', async () => {
  const runs = await Promise.all([setUp(), setUp(), setUp()]);
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(runs.filter(({ output }) => output.includes('npm ci')).length).toBe(1);
  expect(builds()).toBe(1);
});

it('takes over from a setup that was killed', async () => {
  const killed = spawn(process.execPath, ['-e', '']);
  await once(killed, 'exit');
  mkdirSync(join(clone, 'dist', '.setup-lock'), { recursive: true });
  write(`dist/.setup-lock/${killed.pid}`, '');
  const { exitCode, output } = await setUp();
  expect([exitCode, output.includes('waiting')]).toEqual([0, false]);
  expect(existsSync(join(clone, 'dist', '.setup-lock'))).toBe(false);
});

it('shows the output of a failed build, and tries again the next time', async () => {
  write('server/main.ts', 'broken');
  const { exitCode, output } = await setUp();
  expect(exitCode).toBe(1);
  expect(output).toContain('this source is broken');
  expect(output).toMatch(/setup: building the server failed with exit code 1; its output is above\n$/);
  write('server/main.ts', 'fixed');
  expect((await setUp()).exitCode).toBe(0);
});

it('says in one sentence that no registry responds', async () => {
  const lock = JSON.parse(readFileSync(join(clone, 'package-lock.json'), 'utf8'));
  lock.packages[''].dependencies = { remote: '1.0.0' };
  lock.packages['node_modules/remote'] = { version: '1.0.0', resolved: 'http://127.0.0.1:9/remote.tgz' };
  write('package-lock.json', JSON.stringify(lock));
  write('package.json', JSON.stringify(lock.packages['']));
  const { exitCode, output } = await setUp({
    ...{ npm_config_cache: join(clone, 'cache'), npm_config_fetch_retries: '0' },
    // A proxy of this machine would respond in place of the registry.
    ...{ npm_config_noproxy: '127.0.0.1', NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
  });
  expect(exitCode).toBe(1);
  expect(output.split('\n').slice(2)).toEqual([
    expect.stringMatching(
      /^setup: installing packages \(npm ci\) failed: request to http:\/\/127\.0\.0\.1:9\/remote\S* failed, reason: .*9\. Check the network/,
    ),
    '',
  ]);
});

it.skipIf(process.platform === 'win32')('needs no program but Node.js and npm', async () => {
  const bin = join(clone, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  // The npm that is on the PATH may be a script that needs further programs.
  const { npm_execpath: npmScript = '' } = process.env;
  const npm = /npm-cli\.[cm]?js$/.test(npmScript) ? npmScript : (findProgram('npm') ?? '');
  symlinkSync(realpathSync(npm), join(bin, 'npm'));
  expect(await setUp({ PATH: bin, npm_execpath: undefined })).toMatchObject({ exitCode: 0 });
});

it('names the Node.js version that it needs and the one that it found', () => {
  expect(nodeComplaint('18.20.4', '>=20.19')).toMatch(
    /^Terrarium needs Node 20\.19 or newer and this is Node 18\.20\.4/,
  );
  expect(nodeComplaint('20.18.3', '>=20.19')).toBeDefined();
  const range = '^20.19.0 || ^22.0.0 || >=24.0.0';
  expect(nodeComplaint('20.18.3', range)).toMatch(/^Terrarium needs Node 20\.19 or newer and this is Node 20\.18\.3/);
  for (const version of ['20.19.0', '22.0.0', '24.1.0'])
    for (const requiredRange of ['>=20.19', range]) expect(nodeComplaint(version, requiredRange)).toBeUndefined();
  // Node.js 21, 22.0 and 22.1 have no zlib.crc32.
  for (const version of ['21.7.3', '22.0.0', '22.1.0'])
    expect(nodeComplaint(version, manifest.engines.node)).toMatch(/^Terrarium needs Node 22\.2 or newer and this/);
  for (const version of ['20.19.0', '22.2.0', '23.0.0', '24.0.0', '25.1.0', '26.0.0', '27.3.0'])
    expect(nodeComplaint(version, manifest.engines.node)).toBeUndefined();
});
