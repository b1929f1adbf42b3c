import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import { zipOf } from '../../testing/zip.ts';
import { codeFilesBelow } from './code/code-files.ts';

/* A package on this machine is read again after a file in it has changed (D-057). */

let service: TestLambdaService;
let folder: string;
beforeEach(async () => {
  service = await TestLambdaService.start();
  folder = path.join(service.folder, 'package');
  for (const [name, text] of Object.entries({
    'index.js':
      "const { word } = require('./lib/word'); exports.run = () => [word, require('some'), require('./a.json').a].join()",
    'lib/word.js': "exports.word = 'one'",
    'a.json': '{"a":1}',
    'node_modules/some/index.js': "module.exports = 'module'",
  }))
    await write(name, text);
});
afterEach(() => service.stop());

async function write(name: string, text: string | Buffer): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
}

const lambda = (name = '', more = {}) =>
  service.lambda('', {
    code_type: 'package',
    package_url: pathToFileURL(path.join(folder, name)).href,
    handler: 'run',
    ...more,
  });
const call = async (id: string) => resultOf(await service.invoke(id));

describe('a folder that is a package is read again', () => {
  it.each([
    ['its main file', 'index.js', 'exports.run = () => "two"', 'two'],
    ['a file below it', 'lib/word.js', "exports.word = 'two'", 'two,module,1'],
    ['JSON', 'a.json', '{"a":2}', 'one,module,2'],
    ['a module that is installed in it', 'node_modules/some/index.js', 'module.exports = "other"', 'one,other,1'],
  ])('when %s has changed', async (_what, name, text, expected) => {
    const id = lambda();
    expect([await call(id), await call(id)]).toEqual(['one,module,1', 'one,module,1']);
    await write(name, text);
    await expect.poll(() => call(id)).toBe(expected);
  });

  it('when a package of the workspace has changed, to which a node_modules above it links', async () => {
    for (const scope of ['', '@acme/']) {
      const modules = path.join(service.folder, 'node_modules', scope);
      await write(`../${scope}shared/index.js`, "module.exports = 'one'");
      await mkdir(modules, { recursive: true });
      await symlink(path.join(service.folder, scope, 'shared'), path.join(modules, 'shared'), 'junction');
    }
    await symlink('nowhere', path.join(service.folder, 'node_modules', 'dangling'), 'junction');
    await write('package.json', JSON.stringify({ dependencies: { dangling: '*', shared: '*', '@acme/shared': '*' } }));
    await write('index.js', "exports.run = () => [require('shared'), require('@acme/shared')].join()");
    const id = lambda();
    expect(await call(id)).toBe('one,one');
    await write('../shared/index.js', "module.exports = 'two'");
    await expect.poll(() => call(id)).toBe('two,one');
    await write('../@acme/shared/index.js', "module.exports = 'two'");
    await expect.poll(() => call(id)).toBe('two,two');
  });

  it('but not when a platform in the folder writes its data', async () => {
    await write('.terrarium/world.json', '{}');
    expect(codeFilesBelow(folder).filter((file) => file.includes('.terrarium'))).toEqual([]);
  });

  it('when another file has taken the place of one', async () => {
    const id = lambda();
    await call(id);
    await write('lib/next.js', "exports.word = 'two'");
    await rename(path.join(folder, 'lib/next.js'), path.join(folder, 'lib/word.js'));
    await expect.poll(() => call(id)).toBe('two,module,1');
  });

  it('when it was broken by an edit, and fixed by the next', async () => {
    const id = lambda();
    await call(id);
    await write('index.js', 'exports.run = () => {');
    await expect.poll(async () => (await service.invoke(id)).outcome).toMatchObject({ failure: 'load' });
    await write('index.js', 'exports.run = () => "fixed"');
    await expect.poll(() => call(id)).toBe('fixed');
  });

  it('when it has processes that are kept ready', async () => {
    const id = lambda('', { pre_warm: 1 });
    await call(id);
    await write('index.js', 'exports.run = () => "two"');
    await expect.poll(() => call(id)).toBe('two');
  });

  it('but not for files that the lambda writes, nor without a change', async () => {
    await write('index.js', 'exports.run = () => { require("fs").appendFileSync("log.txt", "x"); return process.pid }');
    const id = lambda();
    const first = await call(id);
    await rm(path.join(folder, 'log.txt'));
    const later = new Set<string>();
    for (let calls = 0; calls < 200; calls += 1) later.add(await call(id));
    expect([...later]).toEqual([first]);
  });
});

describe('a file that is a package is read again', () => {
  it('when it has changed, or another one beside it', async () => {
    const id = lambda('index.js');
    expect(await call(id)).toBe('one,module,1');
    await write('a.json', '{"a":3}');
    await expect.poll(() => call(id)).toBe('one,module,3');
    await write('index.js', 'exports.run = () => "two"');
    await expect.poll(() => call(id)).toBe('two');
  });

  it('when it is an archive', async () => {
    await write('code.zip', zipOf({ 'index.js': 'exports.run = () => "one"' }));
    const id = lambda('code.zip');
    expect(await call(id)).toBe('one');
    await write('code.zip', zipOf({ 'index.js': 'exports.run = () => "two"' }));
    await expect.poll(() => call(id)).toBe('two');
  });
});

it('circular links end, and files of the folder come before installed modules', async () => {
  await symlink(folder, path.join(folder, 'lib', 'circle'));
  await symlink(folder, path.join(folder, 'node_modules', 'self'));
  const names = codeFilesBelow(folder).map((file) => path.relative(folder, file).replaceAll(path.sep, '/'));
  expect(names.filter((name) => name.endsWith('index.js')).length).toBeLessThan(5);
  expect(names.slice(0, 3).sort()).toEqual(['a.json', 'index.js', 'lib/word.js']);
  expect(names).toContain('node_modules/some/index.js');
});
