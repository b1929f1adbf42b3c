import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* Each module that a new process loads delays the first call of a lambda. */

let service: TestLambdaService;
let folder: string;
let bare: string[];

beforeAll(async () => {
  const crmAddress = () => ({ host: '127.0.0.1', port: 9 });
  service = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress } });
  folder = path.join(service.folder, 'package');
  await mkdir(folder);
  await writeFile(path.join(folder, 'part.js'), 'exports.part = 1');
  await writeFile(
    path.join(folder, 'index.js'),
    `require('./part'); exports.run = async (event, context) => ${LOADED}`,
  );
  const { stdout } = spawnSync(process.execPath, ['-p', 'JSON.stringify(process.moduleLoadList)'], {
    encoding: 'utf8',
  });
  bare = builtinsIn(JSON.parse(stdout));
});
afterAll(() => service.stop());

/** An expression of a handler: the built-in modules and the platform's own files that its process has loaded. */
const LOADED =
  "({ builtins: process.moduleLoadList, ownModules: Object.keys(require.cache).map((file) => require('path').basename(file)).filter((file) => /^lambda-(typescript|declares-callback)\\.cjs$/.test(file)) })";

function builtinsIn(loaded: string[]): string[] {
  return builtinModules.filter((name) => !name.startsWith('_') && loaded.includes(`NativeModule ${name}`));
}

/** Returns the modules loaded by a process that was started for one lambda: no spare fits the variable. */
async function loadedBy(code: string, properties = {}): Promise<{ builtins: string[]; ownModules: string[] }> {
  const invocation = await service.run(code, { env: { NODE_OPTIONS: '--no-deprecation' }, ...properties }, '{"a":1}');
  const { builtins, ownModules } = JSON.parse(String(resultOf(invocation)));
  return { builtins: builtinsIn(builtins).filter((name) => !bare.includes(name)), ownModules };
}

const PARSED = `(event) => { const { a } = JSON.parse(event); return ${LOADED}; }`;
const PLAIN: [string, string][] = [
  ['a callback', `exports.run = (event, context, callback) => callback(null, ${LOADED})`],
  ['no parameter', `exports.run = () => ${LOADED}`],
  ['an async function', `exports.run = async function (event, context) { return ${LOADED}; }`],
  ['an async arrow function', `exports.run = async () => ${LOADED}`],
  ['a minified async arrow function', `exports.run=async(event,context)=>${LOADED}`],
  ['a Promise', `exports.run = (event) => Promise.resolve(${LOADED})`],
  ['the event as an object', `exports.run = ${PARSED}`],
  ['the event as an object by mistake', `exports.run = (event) => { event.body; return ${LOADED}; }`],
  ['a variable that is not set', `exports.run = () => { process.env.ZEBRA; return ${LOADED}; }`],
  ['a method', `module.exports = { async run(event, context) { return ${LOADED}; } }`],
  ['an ES module', `export const run = async (event) => ${LOADED}`],
];

/** Built-in modules that the child itself loads; names with an underscore are parts of these. */
const OF_CHILD = [
  'child_process',
  'crypto',
  'dgram',
  'diagnostics_channel',
  'http',
  'net',
  'perf_hooks',
  'stream',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'tls',
  'util/types',
  'vm',
  'worker_threads',
];

describe('a cold call loads no module that its handler does not need', () => {
  it.each(PLAIN)('%s', async (_shape, code) => {
    const { builtins, ownModules } = await loadedBy(code);
    expect(ownModules).toEqual([]);
    expect(builtins.filter((name) => !OF_CHILD.includes(name))).toEqual([]);
  });

  it('a folder', async () => {
    const properties = { code_type: 'package', handler: 'index.run', package_url: pathToFileURL(folder).href };
    const { builtins, ownModules } = await loadedBy('', properties);
    expect(ownModules).toEqual([]);
    expect(builtins.filter((name) => !OF_CHILD.includes(name))).toEqual([]);
  });

  it('TypeScript loads its parser only', async () => {
    const { ownModules } = await loadedBy(`export const run = async (event: string): Promise<object> => (${LOADED})`);
    expect(ownModules).toEqual(['lambda-typescript.cjs']);
  });

  it.runIf(process.platform === 'linux')('TypeScript needs no other process', async () => {
    // The page faults of subprocesses that have ended.
    const code = `export const run = async (event: string): Promise<string> =>
      require('fs').readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[8];`;
    expect(resultOf(await service.run(code))).toBe('0');
  });

  it('a default value loads the parser that looks for a callback', async () => {
    const { ownModules } = await loadedBy(`exports.run = async (event, context = '{}') => ${LOADED}`);
    expect(ownModules).toEqual(['lambda-declares-callback.cjs']);
  });

  it('a lambda with a CRM starts no server before it sends a form', async () => {
    const code = "exports.run = () => process.report.getReport().libuv.filter(({ type }) => type === 'tcp')";
    expect(resultOf(await service.run(code, { env: { CRM_API_BASEPATH: 'crm.example.com' } }))).toBe('[]');
  });

  it('what was compiled with the build is used, for TypeScript and for a default value, too', async () => {
    const recorder = path.join(service.folder, 'recorder.cjs');
    await writeFile(
      recorder,
      `const vm = require('vm'); const { Script } = vm; globalThis.rejections = [];
      vm.Script = class extends Script { constructor(...args) { super(...args); rejections.push(this.cachedDataRejected); } };`,
    );
    const code = `export const run = async (event: string, context = '{}'): Promise<unknown> => Reflect.get(globalThis, 'rejections');`;
    const invocation = await service.run(code, { env: { NODE_OPTIONS: `--require ${JSON.stringify(recorder)}` } });
    expect(resultOf(invocation)).toBe('[false,false,false]');
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['incomplete', (stored: Buffer) => stored.fill(0, stored.length >> 1, stored.length - 4)],
  ])('a lambda runs if its compiled code is %s', async (_, damage) => {
    const childFile = inject('lambdaChildFile');
    const folder = path.join(service.folder, 'damaged');
    await cp(path.dirname(childFile), folder, { recursive: true });
    const compiledFiles = (await readdir(folder)).filter((file) => file.includes(`.cjs.${process.version}-`));
    expect(compiledFiles).toHaveLength(3);
    for (const file of compiledFiles) {
      const compiledFile = path.join(folder, file);
      await writeFile(compiledFile, damage(await readFile(compiledFile)));
    }
    const damaged = await TestLambdaService.start({ childFile: path.join(folder, path.basename(childFile)) });
    try {
      expect(resultOf(await damaged.run("exports.run = async (event, context = '{}') => 'ran'"))).toBe('ran');
    } finally {
      await damaged.stop();
    }
  });
});

it('what a package contains of compiled code names no folder of the machine that built it', async () => {
  const childFile = inject('lambdaChildFile');
  const builtFolder = path.dirname(childFile);
  const names = await readdir(builtFolder);
  expect(names.filter((name) => name.includes(process.version))).toHaveLength(3);
  for (const name of names)
    expect((await readFile(path.join(builtFolder, name))).includes(builtFolder), name).toBe(false);
});
