import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDevProject } from './dev-project.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium dev '));
  mkdirSync(join(folder, '.git')); // nothing above it is searched
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text = '') => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const find = (name = '.', isNamed = false) => findDevProject(join(folder, name), isNamed);
const contentOf = async (name: string) => JSON.parse((await find(name).read({})).content);

describe('the project of a folder', () => {
  it.each([
    [
      'a world file above it',
      ['world.yaml', 'lambda/package.json', 'lambda/index.js'],
      'lambda',
      false,
      '.',
      'world.yaml',
    ],
    ['its own lambda if it was named', ['world.yaml', 'lambda/index.js'], 'lambda', true, 'lambda', 'index.js'],
    ['a terrarium.yaml', ['terrarium.yaml'], '.', true, '.', 'terrarium.yaml'],
    ['a lambda above it', ['index.ts', 'src/a.ts'], 'src', false, '.', 'index.ts'],
    ['a world file that was named', ['world.yaml', 'terrarium.yaml'], 'world.yaml', true, '.', 'world.yaml'],
  ])('is %s', (_what, files, start, isNamed, expectedFolder, expectedFile) => {
    for (const file of files) write(file, file.endsWith('.json') ? '{}' : '');
    expect(find(start, isNamed)).toMatchObject({ folder: join(folder, expectedFolder), file: expectedFile });
  });

  it('is one lambda at /web/NAME with the variables of .env', async () => {
    write('shop/package.json', '{ "name": "@acme/Lead form", "main": "./src/main.js" }');
    write('shop/src/main.js');
    write('shop/.env', 'GREETING="Good morning"\n');
    const { lambdas, apis } = (await contentOf('shop')).orgs['lead-form'].workspaces.local.environments.dev;
    expect(lambdas['lead-form'].properties).toMatchObject({
      handler: 'src/main.js;run',
      package_url: pathToFileURL(join(folder, 'shop')).href,
      env: { GREETING: 'Good morning' },
    });
    expect(apis.web.apiendpoints).toEqual({
      'lead-form': {
        properties: { resource: '/lead-form', implementation_type: 'lambda', implementation_id: 'lead-form' },
      },
    });
  });

  it.each([
    ['"./src/lead"', 'src/lead.ts'],
    ['"src/"', 'src/index.js'],
    ['3', 'index.js'],
  ])('is the file that main in package.json means to Node.js: %s', (main, expectedFile) => {
    for (const file of ['src/lead.ts', 'src/index.js', 'index.js']) write(file);
    write('package.json', `{ "main": ${main} }`);
    expect(find()).toMatchObject({ file: expectedFile });
  });

  it('is read with the main file that package.json names now', async () => {
    for (const file of ['one.js', 'two.js']) write(file);
    write('package.json', '{ "name": "a", "main": "one.js" }');
    const project = find();
    write('package.json', '{ "name": "b", "main": "two.js" }');
    const { content } = await project.read({});
    expect(JSON.parse(content).orgs.a.workspaces.local.environments.dev.lambdas.a.properties.handler).toBe(
      'two.js;run',
    );
  });

  it.each([
    ['no lambda', [], '.', /has no world file .* and no lambda .*, and neither has a folder above it$/],
    [
      'two projects below it',
      ['one/world.yaml', 'two/index.js', 'node_modules/three/index.js'],
      '.',
      /Folders in it have: `.* dev one` or `.* dev two`$/,
    ],
    [
      'two world files',
      ['world.yaml', 'terrarium.yaml'],
      '.',
      /several world files: terrarium\.yaml, world\.yaml\. Name one/,
    ],
    [
      'a main file that does not exist',
      ['package.json={"main":"dist/a.js"}'],
      '.',
      /dist.a\.js does not exist, but package\.json names it/,
    ],
    ['a package.json that is damaged', ['package.json={'], '.', /package\.json cannot be read: /],
    ['a file of code', ['index.ts'], 'index.ts', /index\.ts is not a world file\. Name the folder of the lambda\.$/],
    ['a folder that does not exist', [], 'nowhere', /nowhere does not exist$/],
  ])('is refused in one sentence: %s', (_what, files, start, message) => {
    for (const file of files) write(file.split('=')[0] ?? '', file.split('=')[1]);
    expect(() => find(start)).toThrow(message);
  });
});
