// The package as users get it: packed by npm, published to a registry on loopback, installed by npm into a project outside of this
// repository, and used in each way that the README describes.
import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'acorn';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testRunners } from '../scripts/extra-packages.mjs';
import { packageFile } from '../server/system/package-file.ts';
import { makeElectronPackage, startElectronMirror } from '../server/testing/electron-mirror.ts';
import { type LoopbackRegistry, startLoopbackRegistry } from './loopback-registry.ts';
import { packPackage } from './packed-package.ts';

const MAX_PACKAGES = 20;
const MAX_MB = 30;
/** Tools of the project, taken from this repository. */
const TOOLS = ['vitest', '@playwright/test', 'typescript', '@types/node', 'undici-types'];

let folder: string;
let project: string;
let packed: string[];
/** Names of the packages in the source maps of the bundles. */
let mapped: Set<string>;
let registry: LoopbackRegistry;

/** Runs a program in the project, without the variables of the npm that runs the tests. */
function run(file: string, args: readonly string[], env: Record<string, string> = {}, cwd = project) {
  const clean = { PATH: `${process.env.PATH}`, HOME: folder, NO_COLOR: '1', ...env };
  return promisify(execFile)(file, [...args], { cwd, env: clean, maxBuffer: 64 * 1024 * 1024 });
}

const node = (args: readonly string[], env?: Record<string, string>) => run(process.execPath, args, env);
/** The result of a program that is expected to fail. */
const failing = (work: Promise<unknown>): Promise<ExecFileException & { stdout: string; stderr: string }> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (failure) => failure,
  );

async function write(file: string, text: string): Promise<string> {
  await mkdir(dirname(join(project, file)), { recursive: true });
  await writeFile(join(project, file), text);
  return file;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium package '));
  project = join(folder, 'project');
  await mkdir(project);
  const { tarball, files, manifest, clone } = await packPackage(folder);
  packed = files;
  registry = await startLoopbackRegistry(tarball, manifest);
  await write('.npmrc', `registry=${registry.url}\ncache=${join(folder, 'cache')}\naudit=false\nfund=false\n`);
  await write('package.json', '{"name": "consumer", "private": true}');
  await run('npm', ['install', '--save-dev', manifest.name]);
  mapped = await packagesIn(join(clone, 'dist'));
  await rm(clone, { recursive: true });
  for (const tool of TOOLS) {
    await mkdir(dirname(join(project, 'node_modules', tool)), { recursive: true });
    await symlink(packageFile(`node_modules/${tool}`), join(project, 'node_modules', tool));
  }
});

afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, maxRetries: 3 });
});

describe('the installed package', () => {
  it('is few and small, and came from nowhere else', async () => {
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
    const names = Object.keys(lock.packages).filter((path) => path !== '');
    const sizeMb = (await sizeOf(join(project, 'node_modules', 'terrarium-emulator'))) / 1024 ** 2;
    console.log(`installed: ${names.length} package, ${sizeMb.toFixed(1)} MB, ${packed.length} files`);
    expect(names.length).toBeLessThanOrEqual(MAX_PACKAGES);
    expect(sizeMb).toBeLessThan(MAX_MB);
    expect(registry.requestedPaths).toContain('/terrarium-emulator');
  });

  it('has no tests, sources or maps', () => {
    // `init` writes the files of this folder, with a test and a lambda in TypeScript.
    const otherFiles = packed.filter((path) => !path.startsWith('fixtures/project/'));
    expect(
      otherFiles.filter((path) => /[.](test|spec)[.]|[.]map$|[.]tsx?$|^(server|renderer|e2e)\//.test(path)),
    ).toEqual([]);
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'entries/terrarium.cjs']));
  });

  it('has the terms of all that is bundled, and of nothing else', async () => {
    const text = await readFile(join(project, 'node_modules/terrarium-emulator/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const heads = Array.from(text.matchAll(/^-{100}\n(\S+) \d+[.]\d+[.]\S+ \(.+\)\n\n\S/gm), ([, name = '']) => name);
    // These two are not in a bundle: one is copied, the other is a style sheet.
    const named = new Set(heads.filter((name) => name !== 'openapi-explorer' && name !== 'tailwindcss'));
    expect(heads.length - named.size).toBeGreaterThanOrEqual(2);
    // There are no source maps for the window, ssh and the lambda process.
    expect([...mapped].filter((name) => !named.has(name))).toEqual([]);
    for (const name of ['react', 'ssh2', 'sucrase']) expect(named).toContain(name);
    for (const name of ['vite', 'electron', 'gitlab-ci-local', 'typescript']) expect(named).not.toContain(name);
    expect(text).toMatch(/^express .*\n\n\(The MIT License\)\n\nCopyright \(c\) /m);
  });

  it('exports the JSON Schemas that its pages name', async () => {
    const script = `for (const name of ['terrarium', 'world'])
      console.log(require('terrarium-emulator/schemas/' + name + '.schema.json').title);`;
    const { stdout } = await node([await write('schemas.cjs', script)]);
    expect(stdout).toBe('terrarium.json\nWorld file of Terrarium\n');
  });

  it('has what its pages lead to', async () => {
    const inPackage = join(project, 'node_modules', 'terrarium-emulator');
    const pages = packed.filter((path) => path.endsWith('.md'));
    const dead: string[] = [];
    for (const page of pages) {
      const text = await readFile(join(inPackage, page), 'utf8');
      for (const [, to = ''] of text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)) {
        const [target = ''] = to.split('#');
        if (target === '' || /^[a-z]+:/.test(target)) continue;
        const found = await stat(resolve(inPackage, dirname(page), target)).catch(() => undefined);
        if (!found) dead.push(`${page}: ${to}`);
      }
    }
    expect(dead).toEqual([]);
  });
});

const TRIAL = `
  const platform = await startEmulator({ containers: { engine: 'none' } });
  const { outcome } = await platform.invoke('contact-form', { payload: { email: 'ada@example.com' } });
  const lead = await platform.leads.waitFor({ email: 'ada@example.com' });
  await platform.stop();`;

describe('the library exists', () => {
  it('for import', async () => {
    const script = `import { startEmulator } from 'terrarium-emulator'; ${TRIAL} console.log(outcome.result, lead.oid);`;
    const { stdout, stderr } = await node([await write('import.mjs', script)]);
    expect({ stdout, stderr }).toEqual({ stdout: 'SUCCESS 00D5g00000DEMO1\n', stderr: '' });
  });

  it('for require', async () => {
    const script = `const { startEmulator } = require('terrarium-emulator'); (async () => { ${TRIAL} console.log(outcome.result, lead.oid); })();`;
    const { stdout, stderr } = await node([await write('require.cjs', script)]);
    expect({ stdout, stderr }).toEqual({ stdout: 'SUCCESS 00D5g00000DEMO1\n', stderr: '' });
  });

  it('for strict TypeScript in modules and CommonJS, without the types of Node, and with all that is in the declarations checked', async () => {
    const script = `import { startEmulator, type Lead, type Terrarium, type TerrariumOptions } from 'terrarium-emulator';
      export async function trial(): Promise<Lead> {
        const options: TerrariumOptions = { seed: { format: 1 }, limits: { logLines: 5 }, containers: { engine: 'none', onStop: 'keep' } };
        // @ts-expect-error there is no such setting
        const wrong: TerrariumOptions = { sed: 'demo' };
        await using platform: Terrarium = await startEmulator({ ...options, ...(wrong && {}), seed: 'demo' });
        const invocation = await platform.invoke('contact-form', { payload: { email: 'ada@example.com' } });
        const word: 'error' | 'timeout' | 'crash' | 'load' | 'too-large' | 'invalid-result' | 'deleted' | 'busy' | 'runtime' | 'interrupted' | 'pending' | undefined =
          invocation.outcome.failure;
        const sent: string | undefined = invocation.outbound[0]?.request?.text;
        const { url } = await platform.deploy('/a/b/c', { code: 'exports.run = () => 1', env: { NOTHING: undefined }, endpoint: '/c' });
        const address: string = url;
        // @ts-expect-error either code or a folder
        const both = () => platform.deploy('/a/b/c', { code: '', folder: '.' });
        void [sent, address, both];
        // @ts-expect-error it is no number
        const text: number = word;
        void text;
        return await platform.leads.waitFor({ email: 'ada@example.com', since: new Date(0) }, { timeoutMs: 5000 });
      }
      export const done = trial().then(({ oid }) => (globalThis as unknown as { process: { stdout: { write(text: string): void } } }).process.stdout.write(oid));
    `;
    const sources = await Promise.all(['typed.mts', 'typed.cts'].map((source) => write(source, script)));
    const options = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--typeRoots',
      'nowhere',
      '--lib',
      'es2022',
    ];
    await node([join('node_modules', 'typescript', 'bin', 'tsc'), ...options, ...sources]).catch(({ stdout }) =>
      expect.unreachable(stdout),
    );
    const old = [
      '--module',
      'commonjs',
      '--moduleResolution',
      'node10',
      '--ignoreDeprecations',
      '6.0',
      '--noEmit',
      '--strict',
    ];
    const oldSource = await write('old-resolution.ts', script.replace('await using', 'const'));
    await node([join('node_modules', 'typescript', 'bin', 'tsc'), ...old, '--target', 'es2022', oldSource]).catch(
      ({ stdout }) => expect.unreachable(stdout),
    );
    for (const built of ['typed.mjs', 'typed.cjs']) expect((await node([built])).stdout).toBe('00D5g00000DEMO1');
  });

  /** The TypeScript code blocks on the page under a heading. */
  const documented = async (heading: string) => {
    const page = await readFile(join(project, 'node_modules/terrarium-emulator/docs/guides/test-suites.md'), 'utf8');
    const section = page.split(/^## /m).find((pageSection) => pageSection.startsWith(`${heading}\n`)) ?? '';
    return Array.from(section.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => code);
  };

  it('for Vitest, by the fixture of its page', async () => {
    const [fixture = '', test = ''] = await documented('Vitest');
    expect([fixture, test].map((code) => code.split('\n', 1)[0])).toEqual(['// platform.ts', '// lead.test.ts']);
    await write('vitest/platform.ts', fixture);
    // Twice: the second run finds the platform in its initial state.
    const again = `${test}\ntest('and again', async ({ platform }) => { expect(await platform.leads.list()).toEqual([]); });\n`;
    await write('vitest/lead.test.ts', again);
    // Its own timeout of five seconds is too short for a busy machine.
    const args = ['run', '--dir', 'vitest', '--testTimeout', '60000'];
    const { stdout } = await node([join('node_modules', 'vitest', 'vitest.mjs'), ...args]);
    expect(stdout).toMatch(/2 passed/);
  });

  it('for Playwright, by the fixture of its page', async () => {
    const [fixture = ''] = await documented('Playwright');
    await write('playwright/platform.ts', fixture);
    const spec = `import { expect } from '@playwright/test'; import { test } from './platform.ts';
      test('makes a lead of the form', async ({ platform }) => {
        await platform.invoke('contact-form', { payload: { email: 'ada@example.com' } });
        expect(await platform.leads.waitFor({ email: 'ada@example.com' })).toMatchObject({ oid: '00D5g00000DEMO1' });
      });
      test('and again', async ({ platform }) => { expect(await platform.leads.list()).toEqual([]); });`;
    await write('playwright/lead.spec.ts', spec);
    const args = [join('node_modules', '@playwright', 'test', 'cli.js'), 'test', '--workers', '1', 'playwright'];
    expect((await node(args)).stdout).toMatch(/2 passed/);
  });

  it('for Jest, required at once or on the way', async () => {
    const heads = [
      "const { startEmulator } = require('terrarium-emulator');",
      "const startEmulator = (...args) => require('terrarium-emulator').startEmulator(...args);",
    ];
    for (const [at, head] of heads.entries()) {
      const script = `${head}
        it('catches a lead', async () => { ${TRIAL} expect([outcome.result, lead.oid]).toEqual(['SUCCESS', '00D5g00000DEMO1']); }, 60_000);`;
      await write(`jest/lead-${at}.test.js`, script);
    }
    const args = ['--runInBand', '--testTimeout', '60000', '--rootDir', join(project, 'jest')];
    const { stderr } = await node([packageFile('node_modules/jest/bin/jest.js'), ...args]);
    expect(stderr).toMatch(/2 passed/);
  });

  it('for modules in Jest, beside fake timers', async () => {
    const script = `import { jest } from '@jest/globals';
      import { startEmulator } from 'terrarium-emulator';
      it('catches a lead', async () => { jest.useFakeTimers(); ${TRIAL} expect(outcome.result).toBe('SUCCESS'); });`;
    await write('jest-modules/lead.test.mjs', script);
    const args = ['--testTimeout', '60000', '--rootDir', join(project, 'jest-modules'), '--testMatch', '**/*.mjs'];
    const program = ['--experimental-vm-modules', packageFile('node_modules/jest/bin/jest.js')];
    // Without the cache, Node.js 20 loads the platform as later versions do.
    const { stderr } = await node([...program, ...args], { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(stderr).toMatch(/1 passed/);
  });

  it.each([
    ['commonjs', 'node10'],
    ['nodenext', 'nodenext'],
  ])('for ts-jest with the module setting %s, with its types', async (module, moduleResolution) => {
    const script = `import { startEmulator } from 'terrarium-emulator';
      declare const it: (title: string, run: () => Promise<void>) => void;
      it('catches a lead', async () => { ${TRIAL} if (outcome.result !== 'SUCCESS') throw new Error(lead.oid); });`;
    await write(`ts-jest-${module}/lead.test.ts`, script);
    const tsconfig = { module, moduleResolution, target: 'es2022', strict: true, types: [] };
    const transform = JSON.stringify({ '[.]ts$': [join(testRunners, 'node_modules', 'ts-jest'), { tsconfig }] });
    const args = ['--testTimeout', '60000', '--rootDir', join(project, `ts-jest-${module}`), '--transform', transform];
    const { stderr } = await node([join(testRunners, 'node_modules', 'jest', 'bin', 'jest.js'), ...args]);
    expect(stderr).toMatch(/1 passed/);
  });

  it("for Node's own test runner", async () => {
    const script = `import { startEmulator } from 'terrarium-emulator'; import test from 'node:test'; import assert from 'node:assert/strict';
      test('catches a lead', async () => { ${TRIAL} assert.deepEqual([outcome.result, lead.oid], ['SUCCESS', '00D5g00000DEMO1']); });`;
    const { stdout } = await node(['--test', await write('node/lead.test.mjs', script)]);
    expect(stdout).toMatch(/^. pass 1$/m);
  });
});

describe('the command exists', () => {
  const terrarium = (...args: string[]) => run('npx', ['terrarium-emulator', ...args]);

  it('and runs a command against its own platform', async () => {
    const script = "fetch(process.env.TERRARIUM_META_URL + '/status').then(({ status }) => console.log(status))";
    expect((await terrarium('exec', '--', 'node', '-e', script)).stdout).toMatch(/^\d{3}\n$/);
  });

  it.each([
    ['JavaScript', []],
    ['TypeScript', ['--typescript']],
  ])('and writes a project in %s whose test passes', async (language, options) => {
    const { stdout } = await terrarium('init', language, ...options);
    expect(stdout).toContain(`wrote ${join(language, 'world.yaml')}`);
    const test = await run('npm', ['test'], {}, join(project, language));
    expect(test.stdout).toMatch(/^. pass 2$/m);
  });

  it('without the runner of pipelines, and says in one line how to add it', async () => {
    const { stdout } = await terrarium('doctor', '--json', '--base-port', '0', '--gateway-port', '0').catch(
      (failure) => failure,
    );
    const { checks } = JSON.parse(stdout);
    const output = expect.stringContaining('npm install --save-dev gitlab-ci-local');
    expect(checks.find(({ name }: { name: string }) => name === 'pipelines')).toMatchObject({
      ok: false,
      message: output,
    });
  });
});

/** A fake browser that records its arguments, loads the page, and records the address that the page leads to. */
const BROWSER = `#!${process.execPath}
  const { appendFileSync, readFileSync } = require('node:fs');
  const page = process.argv[2];
  const [, action] = /action="([^"]+)"/.exec(readFileSync(new URL(page.replace('--app=', '')), 'utf8'));
  fetch(action, { method: 'POST', redirect: 'manual' }).then(({ headers }) =>
    appendFileSync(process.env.HOME + '/opened', page + ' ' + headers.get('location') + '\\n'));
`;

// As root, the browser would have no sandbox. So no window is opened, and nothing is downloaded.
describe.runIf(process.platform === 'linux')('the window', () => {
  it('opens in the browser at first, and from then on in Electron, which has come in the meantime', async () => {
    const mirror = await startElectronMirror('printf "%s" "$1" > "$HOME/shell"');
    const home = await mkdtemp(join(tmpdir(), 'terrarium desktop '));
    try {
      await makeElectronPackage(project);
      await write(
        'new-node.cjs',
        `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.12.0' } });`,
      );
      await writeFile(join(home, 'chromium'), BROWSER, { mode: 0o755 });
      // A user other than root, with a desktop.
      const userIds = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      if ('uid' in userIds)
        await run('chown', ['-R', `${userIds.uid}:${userIds.gid}`, home, join(project, 'node_modules', 'electron')]);
      await chmod(folder, 0o755);
      const start = () => {
        const args = ['--base-port', '0', '--gateway-port', '0', '--data', ':memory:', '--containers-engine', 'none'];
        const child = spawn(
          process.execPath,
          [
            '--require',
            './new-node.cjs',
            'node_modules/terrarium-emulator/entries/terrarium.cjs',
            'start',
            '--window',
            'electron',
            ...args,
          ],
          {
            cwd: project,
            env: { PATH: `${home}:/usr/bin:/bin`, HOME: home, DISPLAY: ':99', ...mirror.env(home) },
            ...userIds,
          },
        );
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
        return { child, ended: once(child, 'close'), output: () => output };
      };
      const first = start();
      await vi.waitUntil(() => /Electron (is downloaded|could not)/.test(first.output()), { timeout: 60_000 });
      const opened = async () => (await readFile(join(home, 'opened'), 'utf8')).trim().split('\n');
      await vi.waitUntil(async () => (await opened().catch(() => [])).length === 1, { timeout: 60_000 });
      const printed = (name: string) => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(first.output())?.[1] ?? '';
      const [port, key, secret] = [new URL(printed('API docs')).port, printed('API key'), printed('secret')];
      const ui = ['ui', '--base-url', `http://127.0.0.1:${port}`, '--key', key, '--secret', secret];
      const output = await promisify(execFile)(
        process.execPath,
        ['node_modules/terrarium-emulator/entries/terrarium.cjs', ...ui],
        { cwd: project, env: { PATH: home, HOME: home, DISPLAY: ':99', TERRARIUM_HEADLESS: 'false' }, ...userIds },
      );
      expect(output.stdout).toMatch(/code=[\w-]+\nOpening the window in Chromium, because /);
      first.child.kill('SIGTERM');
      expect(await first.ended).toEqual([0, null]);
      expect(first.output()).toMatch(
        /^Opening the window in Chromium, because Electron's binary is not installed yet/m,
      );
      await expect.poll(opened).toHaveLength(2);
      for (const line of await opened()) {
        expect(line).toMatch(/^--app=file:\S+ http:\S+\/ui\/[?]code=[\w-]+$/);
        expect(line.split(' ', 1)[0]).not.toContain('code=');
      }
      expect((await readdir(home)).filter((name) => name.startsWith('terrarium-'))).toEqual([]);
      expect(first.output()).toMatch(/^Downloading Electron \(about 100 MB\) in the background/m);
      expect(first.output()).toMatch(/^Electron is downloaded\./m);
      const second = start();
      expect(await second.ended, second.output()).toEqual([0, null]);
      expect(second.output()).toBe('Opening the window in Electron.\n');
      expect(await readFile(join(home, 'shell'), 'utf8')).toMatch(/dist\/electron\/main[.]js$/);
      expect(mirror.requestCount).toBe(1);
    } finally {
      await mirror.stop();
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('an old Node', () => {
  const SENTENCE =
    'Terrarium needs Node 20.19 or newer and this is Node 18.20.4: install a newer one from https://nodejs.org';
  const FAKE_NODE_18 = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });`;
  const old = async (...args: string[]) => node(['--require', `./${await write('old.cjs', FAKE_NODE_18)}`, ...args]);

  it('is refused with a message by the command, by import and by require', async () => {
    const { code, stderr } = await failing(old('node_modules/terrarium-emulator/entries/terrarium.cjs', 'start'));
    expect({ code, stderr }).toEqual({ code: 2, stderr: `terrarium: ${SENTENCE} and try again.\n` });
    const printErrorSource = '({ code, message }) => console.log(code, message)';
    const commands = [
      await write('old.mjs', `import('terrarium-emulator').catch(${printErrorSource})`),
      await write(
        'old-require.cjs',
        `try { require('terrarium-emulator') } catch (error) { (${printErrorSource})(error) }`,
      ),
    ];
    for (const command of commands) expect((await old(command)).stdout).toContain(`TERRARIUM_OLD_NODE ${SENTENCE}`);
  });

  it('can parse the code that prints the message', async () => {
    const entry = (name: string) => readFile(join(project, 'node_modules/terrarium-emulator/entries', name), 'utf8');
    for (const name of ['check-node.cjs', 'terrarium.cjs', 'library.cjs']) {
      parse(await entry(name), { ecmaVersion: 5, allowHashBang: true });
    }
    // Node.js versions that support modules know these keywords.
    parse(await entry('library.mjs'), { ecmaVersion: 2020, sourceType: 'module' });
  });
});

/** Packages whose modules are in bundles, from the source maps. */
async function packagesIn(folder: string): Promise<Set<string>> {
  const files = await readdir(folder, { recursive: true });
  const maps = files.filter((file) => file.endsWith('.map')).map((file) => readFile(join(folder, file), 'utf8'));
  const sources = (await Promise.all(maps)).flatMap((text): string[] => JSON.parse(text).sources);
  const names = sources.flatMap((source) => /.*node_modules[/]((?:@[^/]+[/])?[^/]+)/.exec(source)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(50);
  return new Set(names);
}

async function sizeOf(path: string): Promise<number> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}
