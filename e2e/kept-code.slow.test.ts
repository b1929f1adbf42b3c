import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'acorn';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';

const MAIN = 'library-aaaaaaaa.cjs';
const PART = 'emulator-bbbbbbbb.cjs';
const SCRIPT = `require(${JSON.stringify(packageFile('entries/parts.cjs'))}).load(process.argv[1]).say().then(console.log)`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-kept-code-'));
  const later = 'await Promise.resolve().then(() => require("./emulator-bbbbbbbb.cjs"))';
  await writeFile(join(folder, MAIN), `exports.say = async () => (${later}).say(exports);`);
  // A cycle of parts, and an import of a module that is no part.
  const asks = 'require("./library-aaaaaaaa.cjs") === main && require("node:os").EOL';
  await writeFile(join(folder, PART), `exports.say = async (main) => [__filename, ${asks}];`);
});
afterEach(async () => {
  await chmod(folder, 0o755);
  await rm(folder, { recursive: true });
});

async function runScript(env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['-e', SCRIPT, join(folder, MAIN)], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  expect(stderr).toBe('');
  return stdout;
}

const listCompiled = () => readdir(join(folder, 'compiled')).catch(() => []);

// Later versions of Node.js cache code themselves, in another folder.
it.runIf(!('enableCompileCache' in nodeModule))('V8 takes the code that a start has kept, or else none', async () => {
  const first = await runScript();
  expect(first).toContain(PART);
  const names = await listCompiled();
  expect(names.map((name) => name.split('.')[0])).toEqual([PART, MAIN].map((name) => name.split('.')[0]));
  const [name = ''] = names;
  const codeFile = join(folder, 'compiled', name);
  const code = await readFile(codeFile);

  expect(await runScript()).toBe(first);
  // The state that a power failure can leave: V8 ends a process that uses such code.
  const damaged = Buffer.from(code).fill(0, code.length / 2, code.length / 2 + 64);
  for (const broken of [Buffer.alloc(0), Buffer.alloc(3), code.subarray(0, 200), Buffer.alloc(code.length), damaged]) {
    await writeFile(codeFile, broken);
    expect(await runScript()).toBe(first);
    // The rejected code is replaced in the cache.
    expect((await readFile(codeFile)).equals(broken)).toBe(false);
    expect(await listCompiled()).toEqual(names);
  }
});

it.runIf(!('enableCompileCache' in nodeModule))('a part that only a later start asks for is kept, too', async () => {
  await runScript();
  const before = new Set<string>(await listCompiled());
  const late = 'late-cccccccc.cjs';
  await writeFile(join(folder, late), 'exports.word = 1;');
  await writeFile(join(folder, MAIN.replace('aaaaaaaa', 'dddddddd')), `require('./${PART}'); require('./${late}');`);
  await promisify(execFile)(
    process.execPath,
    ['-e', SCRIPT.replace('.say().then(console.log)', ''), join(folder, 'library-dddddddd.cjs')],
    {
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  const added = (await listCompiled()).filter((name) => !before.has(name));
  expect(added.map((name) => name.split('.')[0])).toEqual(['late-cccccccc', 'library-dddddddd']);
});

it('keeps none where it may not, and runs all the same', async () => {
  const first = await runScript({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(first).toContain(PART);
  expect(await runScript({ NODE_OPTIONS: '--enable-source-maps' })).toBe(first);
  expect(await listCompiled()).toEqual([]);
  await writeFile(join(folder, 'compiled'), 'a file where the folder would be');
  await chmod(folder, 0o555);
  expect(await runScript()).toBe(first);
});

// Node does not allow code that was passed with its compiled form to import modules without an experimental option.
it('nothing in the bundle needs import(), and every file that it loads exists', async () => {
  const server = packageFile('dist/server');
  const reached = new Set(['cli.js', 'library.js']);
  const tables = new Set<string>();
  for (const name of reached) {
    const code = await readFile(join(server, name), 'utf8');
    for (const [found] of code.matchAll(/[\w.-]+-[\w-]{8}[.]cjs(?=['"])/g)) reached.add(found);
    // Tables that are needed rarely are separate files, and no text is in memory twice.
    for (const [, table = ''] of code.matchAll(/require\("[.][/]([\w-]+[.]json)"\)/g)) tables.add(table);
    expect([name, /[^\0-\x7f]/.test(code)]).toEqual([name, false]);
    if (name.endsWith('.js')) continue;
    const tree = JSON.stringify(parse(code, { ecmaVersion: 'latest' }), (_, value) =>
      typeof value === 'bigint' ? 0 : value,
    );
    expect([name, tree.includes('"type":"ImportExpression"')]).toEqual([name, false]);
  }
  expect(reached.size).toBeGreaterThan(10);
  expect(tables).toContain('shiftjis.json');
  for (const table of tables) JSON.parse(await readFile(join(server, table), 'utf8'));
});
