import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import { zipOf } from '../../testing/zip.ts';
import { parseHandler } from './code/lambda-code.ts';

const FILES = {
  'index.js': 'exports.run = () => "index " + require("./lib/part").name',
  'lib/part.js': 'exports.name = "part"',
  'src/other.mjs': 'export const hello = () => "other"',
};

let service: TestLambdaService;
let base: string;
let fetchedUrls: string[] = [];
const pages = new Map<string, Buffer | string>();

const server = createServer((request, response) => {
  fetchedUrls.push(request.url ?? '');
  const page = pages.get(request.url ?? '');
  if (request.url === '/to-file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
  else if (page === undefined) response.writeHead(404).end();
  else response.end(page);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await TestLambdaService.start();
});
beforeEach(() => {
  fetchedUrls = [];
  pages.clear();
  pages.set('/code.zip', zipOf(FILES));
});
afterAll(async () => {
  await service.stop();
  server.close();
});

const packaged = (package_url: string, handler: string, more: JsonObject = {}): JsonObject => ({
  code_type: 'package',
  package_url,
  handler,
  ...more,
});
const run = (url: string, handler: string, more: JsonObject = {}) => service.run('', packaged(url, handler, more));

it.each([
  ['run', 'index', 'run'],
  ['file.func', 'file', 'func'],
  ['src/file.func', 'src/file', 'func'],
  ['my.file.func', 'my.file', 'func'],
  ['file.js;func', 'file.js', 'func'],
  ['file;func', 'file', 'func'],
])('handler %s is function %s of module %s (D-056)', (handler, file, exportName) => {
  expect(parseHandler(handler)).toEqual({ file, exportName });
});

/** An archive whose directory claims this number of entries. */
function saying(entries: number): Buffer {
  const zip = Buffer.from(zipOf({ 'a.js': 'x' }));
  for (const at of [14, 12]) zip.writeUInt16LE(entries, zip.length - at);
  return zip;
}

describe('an archive by URL', () => {
  it.each([
    ['run', 'index part'],
    ['index.run', 'index part'],
    ['index.js;run', 'index part'],
    ['src/other.hello', 'other'],
    ['src/other.mjs;hello', 'other'],
  ])('runs with handler %s', async (handler, answer) => {
    expect(resultOf(await run(`${base}/code.zip`, handler, { compressed: 'true' }))).toBe(answer);
  });

  it('is recognised where the lambda does not say whether it is one', async () => {
    expect(resultOf(await run(`${base}/code.zip`, 'run'))).toBe('index part');
  });

  it('is fetched once, whatever else of the definition changes', async () => {
    const properties = packaged(`${base}/code.zip`, 'run', { compressed: true });
    const id = service.lambda('', { ...properties, isolate: true });
    for (let call = 0; call < 3; call += 1) expect(resultOf(await service.invoke(id))).toBe('index part');
    service.change(id, '', { ...properties, timeout: 7, env: { A: 'b' }, handler: 'index.run' });
    expect(resultOf(await service.invoke(id))).toBe('index part');
    expect(fetchedUrls).toEqual(['/code.zip']);
  });

  it('is fetched again when its URL is given again', async () => {
    const id = service.lambda('', packaged(`${base}/code.zip`, 'run'));
    expect(resultOf(await service.invoke(id))).toBe('index part');
    pages.set('/code.zip', zipOf({ 'index.js': 'exports.run = () => "second edition"' }));
    service.lambdas.refetch(id);
    expect(resultOf(await service.invoke(id))).toBe('second edition');
    expect(fetchedUrls).toEqual(['/code.zip', '/code.zip']);
  });

  it('is not fetched again for a change of inherited variables', async () => {
    service.put('environment', 'root', 'Resource::Environment', {});
    const id = service.lambda('', packaged(`${base}/code.zip`, 'run'), 'environment');
    await service.invoke(id);
    service.put('environment', 'root', 'Resource::Environment', { env: { A: 'b' } });
    expect((await service.invoke(id)).cold).toBe(true);
    expect(fetchedUrls).toHaveLength(1);
  });

  it('that comes late serves all who wait for it', async () => {
    const id = service.lambda('', packaged(`${base}/code.zip`, 'run'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.invoke(id)));
    expect(answers.map(resultOf)).toEqual(Array(5).fill('index part'));
    expect(fetchedUrls).toHaveLength(1);
  });

  it('runs on as the copy at hand where the source is gone, and the log says so', async () => {
    const properties = packaged(`${base}/code.zip`, 'run');
    const id = service.lambda('', properties);
    expect(resultOf(await service.invoke(id))).toBe('index part');
    pages.clear();
    service.lambdas.refetch(id);
    expect(resultOf(await service.invoke(id))).toBe('index part');
    expect(service.lambdas.log(id, {}).join()).toMatch(
      /code.zip cannot be fetched, so the previous copy is used: .*404/,
    );
    // Another source has no copy.
    service.change(id, '', packaged(`${base}/other.zip`, 'run'));
    expect(failureOf(await service.invoke(id))).toMatch(/^load: .*404/);
  });

  it('is unpacked once for each content, and removed with the last lambda that has it', async () => {
    const code = `exports.run = () => __dirname`;
    pages.set('/a.zip', zipOf({ 'index.js': code }));
    pages.set('/b.zip', zipOf({ 'index.js': code }));
    const [first, other] = [
      service.lambda('', packaged(`${base}/a.zip`, 'run')),
      service.lambda('', packaged(`${base}/b.zip`, 'run')),
    ];
    const [folder, same] = (await Promise.all([service.invoke(first), service.invoke(other)])).map(resultOf);
    expect(same).toBe(folder);
    service.remove(first);
    expect(resultOf(await service.invoke(other))).toBe(folder);
    service.remove(other);
    await expect.poll(() => existsSync(folder ?? '')).toBe(false);
  });
});

describe('what an archive contains', () => {
  it('may lie in one folder, as code hosts make it', async () => {
    const inFolder = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`lambda-main/${name}`, text]));
    pages.set('/host.zip', zipOf(inFolder));
    expect(resultOf(await run(`${base}/host.zip`, 'run'))).toBe('index part');
  });

  it('is recognised also where the lambda says that it is a single file', async () => {
    expect(resultOf(await run(`${base}/code.zip`, 'run', { compressed: false }))).toBe('index part');
  });

  it('is the working folder, and keeps its links and execution bits', async () => {
    const script = '#!/bin/sh\necho ran';
    const code = `exports.run = () => require('child_process').execFileSync('./bin/linked').toString() + require('fs').readFileSync('a.txt', 'utf8')`;
    const entries = { 'index.js': code, 'bin/tool': script, 'bin/linked': 'tool', 'a.txt': 'text' };
    pages.set('/modes.zip', zipOf(entries, undefined, { 'bin/tool': 0o100755, 'bin/linked': 0o120777 }));
    expect(resultOf(await run(`${base}/modes.zip`, 'run'))).toBe('ran\ntext');
  });

  it.each([
    ['out', '../../elsewhere', {}],
    ['out', '/etc', {}],
    ['a/b/c', '../../..', {}],
    ['a/b/up', '../..', { step: 'a/b/up/..' }],
  ])('may not link to elsewhere: %s to %s', async (name, target, more: Record<string, string>) => {
    const links = { [name]: target, ...more };
    const modes = Object.fromEntries(Object.keys(links).map((link) => [link, 0o120777]));
    pages.set('/links.zip', zipOf({ ...FILES, ...links }, undefined, modes));
    expect(failureOf(await run(`${base}/links.zip`, 'run'))).toMatch(/^load: .*leads out of the package/);
  });

  it('may not be had from a file by way of the network', async () => {
    expect(failureOf(await run(`${base}/to-file`, 'run'))).toMatch(/^load: package \S+ cannot be used: /);
  });
});

describe('a single file by URL', () => {
  it('is the module, whatever the handler calls it', async () => {
    pages.set('/a/lambda.mjs', 'export const go = () => "single"');
    expect(resultOf(await run(`${base}/a/lambda.mjs`, 'lambda.go', { compressed: false }))).toBe('single');
    expect(resultOf(await run(`${base}/a/lambda.mjs`, 'go'))).toBe('single');
  });
});

describe('a package on this machine', () => {
  it('that is a folder is used in place', async () => {
    const folder = path.join(service.folder, 'mine with space');
    await mkdir(path.join(folder, 'lib'), { recursive: true });
    for (const name of ['index.js', 'lib/part.js'] as const) await writeFile(path.join(folder, name), FILES[name]);
    expect(resultOf(await run(pathToFileURL(folder).href, 'run'))).toBe('index part');
    expect(resultOf(await run(`${pathToFileURL(folder).href}/`, 'run'))).toBe('index part');
    expect(failureOf(await run(pathToFileURL(path.join(folder, 'lib')).href, '../index.run'))).toMatch(
      /^load: .* has no file/,
    );
    expect((await readdir(folder)).sort()).toEqual(['index.js', 'lib']);
  });

  it('that is an archive or a single file runs too', async () => {
    const [archive, single] = [path.join(service.folder, 'a.zip'), path.join(service.folder, 'one.js')];
    await writeFile(archive, zipOf(FILES));
    await writeFile(single, 'exports.run = () => "one"');
    expect(resultOf(await run(pathToFileURL(archive).href, 'run'))).toBe('index part');
    expect(resultOf(await run(pathToFileURL(single).href, 'run'))).toBe('one');
  });
});

describe('a package that cannot be used names its URL and the reason', () => {
  it('when the server does not have it, and it is asked again later', async () => {
    const id = service.lambda('', packaged(`${base}/late.zip`, 'run'));
    expect(failureOf(await service.invoke(id))).toBe(
      `load: package ${base}/late.zip cannot be used: the server responded with 404 Not Found`,
    );
    pages.set('/late.zip', zipOf(FILES));
    expect(resultOf(await service.invoke(id))).toBe('index part');
  });

  it('when there is no server', async () => {
    const url = 'http://127.0.0.1:4/code.zip';
    expect(failureOf(await run(url, 'run'))).toBe(`load: package ${url} cannot be used: connection refused`);
  });

  it('when the folder is not there, or the file not in it', async () => {
    expect(failureOf(await run('file:///nowhere/at/all', 'run'))).toBe(
      'load: package file:///nowhere/at/all cannot be used: ENOENT: no such file or directory',
    );
    expect(failureOf(await run(`${base}/code.zip`, 'src/none.run'))).toBe(
      `load: handler 'src/none.run': package ${base}/code.zip has no file 'src/none'`,
    );
  });

  it.each([
    ['is no archive', 'just text', /end of central directory|zip/i],
    ['leads out of its folder', zipOf({ '../../escaped.js': 'x' }), /invalid relative path: \.\.\/\.\.\/escaped\.js/],
    ['has an absolute name', zipOf({ '/etc/escaped.js': 'x' }), /absolute path/],
    ['has more entries than are allowed', saying(50_001), /has 50001 entries; at most 50000 are allowed/],
    ['unpacks to more than is allowed', zipOf({ 'a.js': 'x' }, 0x7fffffff), /more than 500 MB/],
    ['unpacks to more than it declares', zipOf({ 'a.js': 'x'.repeat(1_000) }, 10), /too many bytes/],
  ])('when the archive %s', async (_what, page, reason) => {
    pages.set('/bad.zip', page);
    expect(failureOf(await run(`${base}/bad.zip`, 'run', { compressed: true }))).toMatch(reason);
  });
});
