import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

let folder: string;
let service: TestLambdaService;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-modules-'));
  for (const moduleFolder of ['common', 'of-env']) {
    const home = path.join(folder, moduleFolder, 'node_modules', `${moduleFolder}-module`);
    await mkdir(home, { recursive: true });
    await writeFile(
      path.join(home, 'package.json'),
      JSON.stringify({ name: `${moduleFolder}-module`, main: 'index.js' }),
    );
    await writeFile(path.join(home, 'index.js'), `exports.name = '${moduleFolder}'`);
  }
  service = await TestLambdaService.start({ modules: path.join(folder, 'common') });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('modules that are not in the package', () => {
  it.each([
    'exports.run = () => require("common-module").name',
    'import { name } from "common-module"; export const run = () => name',
    'exports.run = async () => (await import("common-module")).name',
  ])('are those of the folder lambdas.modules: %s', async (code) => {
    expect(resultOf(await service.run(code))).toBe('common');
  });

  it.each([
    ['index.js', 'exports.run = () => require("common-module").name', 'common'],
    ['index.mjs', 'import { name } from "common-module"; export const run = () => name', 'common'],
    ['index.js', 'exports.run = async () => (await import("common-module")).name', 'common'],
    ['index.ts', 'import { name } from "common-module"; export const run = (): string => name', 'common'],
    ['index.js', 'exports.run = () => require("near-module").name + require("common-module").name', 'nearcommon'],
    ['index.mjs', 'import { name } from "near-module"; export const run = () => name', 'near'],
  ])(
    'are those of lambdas.modules also for a folder and a file of this machine: %s, %s',
    async (name, code, expected) => {
      const packageFolder = await mkdtemp(path.join(folder, 'package-'));
      const near = path.join(packageFolder, 'node_modules', 'near-module');
      await mkdir(near, { recursive: true });
      await writeFile(path.join(near, 'index.js'), "exports.name = 'near'");
      await writeFile(path.join(packageFolder, name), code);
      for (const url of [pathToFileURL(packageFolder).href, pathToFileURL(path.join(packageFolder, name)).href]) {
        const properties = { code_type: 'package', package_url: url, handler: 'run' };
        const env = { NODE_PATH: path.join(folder, 'of-env', 'node_modules') };
        expect(resultOf(await service.run('', properties))).toBe(expected);
        expect(resultOf(await service.run('', { ...properties, env }))).toBe(expected);
      }
    },
  );

  it('are named when they are missing in a folder of this machine', async () => {
    const packageFolder = await mkdtemp(path.join(folder, 'package-'));
    await writeFile(path.join(packageFolder, 'index.mjs'), 'import "none"; export const run = () => 1');
    const properties = { code_type: 'package', package_url: pathToFileURL(packageFolder).href, handler: 'run' };
    expect(failureOf(await service.run('', properties))).toMatch(/Cannot find (module|package) 'none'/);
  });

  it("are those of the lambda's own NODE_PATH", async () => {
    const env = { NODE_PATH: path.join(folder, 'of-env', 'node_modules') };
    expect(resultOf(await service.run('exports.run = () => require("of-env-module").name', { env }))).toBe('of-env');
    const imported = await service.run('import { name } from "of-env-module"; export const run = () => name', { env });
    expect(failureOf(imported)).toMatch(/Cannot find package 'of-env-module' .*npm install of-env-module/);
  });
});

describe('an error that a caller reads', () => {
  it.each([
    ['require("none")', 'at load'],
    ['import "none"', 'at load of an ES module'],
    ['exports.run = () => require("none")', 'in the handler'],
    ['exports.run = () => import("none")', 'in the handler, by import'],
    ['exports.run = (event, context, callback) => { setImmediate(() => require("@none/at-all")) }', 'later'],
  ])('says what to do about a module that is missing, and names no folder: %s', async (code, _when) => {
    const failure = failureOf(await service.run(code));
    expect(failure).toMatch(
      /Cannot find (module|package) '.*none.*'npm install (@none\/at-all|none)'.*lambdas\.modules/,
    );
    expect(failure).not.toContain(service.folder);
    expect(failure).not.toContain('Require stack');
  });

  it.each([
    'require("./part")',
    'exports.run = () => require("./part")',
    'import "./part.mjs"',
    'exports.run = () => require("fs").readFileSync(__dirname + "/none")',
    'exports.run = () => require("fs").readFileSync(require("os").homedir() + "/none")',
    'exports.run = (event, context, callback) => require("fs").readFile(__filename + "x", callback)',
    'exports.run = () => { throw __dirname }',
    'exports.run = () => { throw { where: require("url").pathToFileURL(__filename).href } }',
    'throw new Error(__filename)',
  ])('names no folder of this machine: %s', async (code) => {
    const invocation = await service.run(code);
    expect(failureOf(invocation)).not.toContain(service.folder);
    expect(failureOf(invocation)).toMatch(/^(error|load): /);
  });

  it('of a linked package neither', async () => {
    const linked = path.join(folder, 'linked');
    await mkdir(path.join(linked, 'src'), { recursive: true });
    await writeFile(
      path.join(linked, 'src', 'index.js'),
      'exports.run = () => { throw new Error(process.cwd() + " " + __filename) }',
    );
    const properties = { code_type: 'package', package_url: pathToFileURL(linked).href, handler: 'src/index.run' };
    const failure = failureOf(await service.run('', properties));
    expect(failure).toBe(`error: . ./index.js`);
  });
});
