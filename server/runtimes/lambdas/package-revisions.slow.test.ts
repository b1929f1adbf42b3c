import { readdir, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Gate } from '../../testing/gate.ts';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import { zipOf } from '../../testing/zip.ts';
import { fetchPackage } from './code/package-store.ts';

/* What a package's source has by now is asked after when a process is started for it, at most once a minute (D-057). */

const MINUTE_MS = 60_000;
let base: string;
let requestHeaders: IncomingHttpHeaders[];
let source: { body: string; headers: Record<string, string> } | ((response: ServerResponse) => void);
let nowMs: number;
let service: TestLambdaService;

const server = createServer((request, response) => {
  requestHeaders.push(request.headers);
  if (typeof source === 'function') return source(response);
  const { body, headers } = source;
  const isSame =
    (headers.etag !== undefined && request.headers['if-none-match'] === headers.etag) ||
    (headers['last-modified'] !== undefined && request.headers['if-modified-since'] === headers['last-modified']);
  response.writeHead(isSame ? 304 : 200, headers).end(isSame ? undefined : body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(async () => {
  [requestHeaders, nowMs] = [[], Date.now()];
  service = await TestLambdaService.start({ steadyMs: () => nowMs });
});
afterEach(() => service.stop());

const code = (text: string) => `exports.run = () => '${text}'`;
const lambda = (url: string, more = {}) =>
  service.lambda('', { code_type: 'package', package_url: url, handler: 'run', isolate: true, ...more });
const call = async (id: string) => resultOf(await service.invoke(id));

describe.each([
  ['ETag', 'etag', 'if-none-match', ['"1"', '"2"']],
  [
    'Last-Modified',
    'last-modified',
    'if-modified-since',
    ['Mon, 01 Jan 2024 00:00:00 GMT', 'Tue, 02 Jan 2024 00:00:00 GMT'],
  ],
] as const)('a source that gives an %s', (_name, header, condition, [first, second]) => {
  it('is asked once a minute whether it has something else, and that runs then', async () => {
    source = { body: code('one'), headers: { [header]: first } };
    const id = lambda(`${base}/code.js`);
    expect([await call(id), await call(id)]).toEqual(['one', 'one']);
    expect(requestHeaders).toHaveLength(1);
    nowMs += MINUTE_MS;
    expect([await call(id), await call(id)]).toEqual(['one', 'one']);
    expect(requestHeaders.map((headers) => headers[condition])).toEqual([undefined, first]);
    source = { body: code('two'), headers: { [header]: second } };
    expect(await call(id)).toBe('one');
    nowMs += MINUTE_MS;
    expect(await call(id)).toBe('two');
    expect(requestHeaders).toHaveLength(3);
  });
});

it('a source that gives nothing to ask by is not asked again, but when its URL is given again', async () => {
  source = { body: code('one'), headers: {} };
  const id = lambda(`${base}/code.js`);
  await call(id);
  source = { body: code('two'), headers: {} };
  nowMs += 10 * MINUTE_MS;
  expect(await call(id)).toBe('one');
  expect(requestHeaders).toHaveLength(1);
  service.lambdas.refetch(id);
  expect(await call(id)).toBe('two');
});

it('the copy at hand runs on while the source is away or answers nothing, and the log says so once', async () => {
  source = { body: code('one'), headers: { etag: '"1"' } };
  const id = lambda(`${base}/code.js`);
  await call(id);
  source = (response) => response.writeHead(503).end();
  for (let minute = 0; minute < 2; minute += 1) {
    nowMs += MINUTE_MS;
    expect(await call(id)).toBe('one');
  }
  expect(service.lambdas.log(id, {})).toEqual([
    `[terrarium] package ${base}/code.js cannot be fetched, so the previous copy is used: the server responded with 503 Service Unavailable`,
  ]);
});

it('other content is a revision of the whole pool: no process of the old one takes another call', async () => {
  const gate = await Gate.open();
  onTestFinished(() => gate.stop());
  const gatedCode = (text: string) =>
    `exports.run = async (url) => { if (url.startsWith('http')) await fetch(url); return '${text}'; }`;
  source = { body: gatedCode('one'), headers: { etag: '"1"' } };
  const id = lambda(`${base}/code.js`, { isolate: false });
  await call(id);
  source = { body: gatedCode('two'), headers: { etag: '"2"' } };
  nowMs += MINUTE_MS;
  const first = service.invoke(id, gate.url);
  await gate.waitForClients(1);
  // It finds the only process at work, and has another one started.
  expect(await call(id)).toBe('two');
  gate.release();
  expect(resultOf(await first)).toBe('one');
  const otherCalls = [service.invoke(id, gate.url), service.invoke(id, gate.url), service.invoke(id)];
  await gate.waitForClients(2);
  gate.release();
  expect((await Promise.all(otherCalls)).map(resultOf)).toEqual(['two', 'two', 'two']);
});

it.each([['code.js'], ['code.zip']])('a file %s of this machine is known by its size and time', async (name) => {
  const file = path.join(service.folder, name);
  const bytes = (text: string) => (name.endsWith('.zip') ? zipOf({ 'index.js': code(text) }) : code(text));
  await writeFile(file, bytes('one'));
  const id = lambda(pathToFileURL(file).href);
  expect(await call(id)).toBe('one');
  await writeFile(file, bytes('two'));
  await utimes(file, 1, 1);
  nowMs += MINUTE_MS;
  expect(await call(id)).toBe('two');
});

it('a fetched package exists after a restart, and is checked again', async () => {
  source = { body: code('one'), headers: { etag: '"1"' } };
  const properties = { code_type: 'package', package_url: `${base}/code.js`, handler: 'run' };
  const id = service.lambda('', properties);
  await call(id);
  await service.lambdas.stop();
  const contents = path.join(service.folder, 'scratch', 'packages', 'contents');
  await writeFile(path.join(contents, 'half.download'), 'x');
  const again = await TestLambdaService.start({ scratchDir: path.join(service.folder, 'scratch') }, (world) => {
    world.put(id, 'root', 'Resource::Node::Lambda', { runtime: 'nodejs', timeout: 60, ...properties });
  });
  expect(resultOf(await again.invoke(id))).toBe('one');
  expect(requestHeaders.map((headers) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  expect(await readdir(contents)).toHaveLength(1);
  await again.stop();
});

describe('a source that', () => {
  const fetchTo = (limits: Parameters<typeof fetchPackage>[4] = {}) =>
    fetchPackage(new URL(`${base}/x`), path.join(service.folder, 'x'), undefined, new AbortController().signal, limits);

  it('never ends is given up', async () => {
    source = (response) => {
      const timer = setInterval(() => response.write('x'), 5);
      response.on('close', () => clearInterval(timer));
    };
    await expect(fetchTo({ limits: { totalMs: 100 } })).rejects.toThrow('the response is not complete after 0.1 s');
  });

  it('sends without end is given up at the size that is allowed', async () => {
    const block = Buffer.alloc(1_000_000);
    source = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', more);
      more();
    };
    const limits = { totalMs: 10 * MINUTE_MS }; // it is about the size
    await expect(fetchTo({ limits })).rejects.toThrow('the response has more than 200 MB, which is the limit');
  });

  it.each([
    ['another scheme', 'https://example.com/code.js', 'redirects to another scheme are not followed'],
    ['a metadata address', 'http://169.254.169.254/latest/', '169.254.169.254 is a link-local or metadata address'],
  ])('redirects to %s is no package', async (_where, location, reason) => {
    source = (response) => response.writeHead(302, { location }).end();
    expect(failureOf(await service.invoke(lambda(`${base}/code.js`)))).toContain(reason);
  });

  it('decodes to more than is allowed is given up', async () => {
    const packed = gzipSync(Buffer.alloc(201_000_000));
    source = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    await expect(fetchTo()).rejects.toThrow('the package has more than 200 MB, which is the limit');
  });

  it('sends less than it says is no package', async () => {
    source = (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half');
      setTimeout(() => response.destroy(), 20);
    };
    expect(failureOf(await service.invoke(lambda(`${base}/half.js`)))).toMatch(/^load: package \S+ cannot be used: /);
  });

  it('has another content by the time of the body than it said by its head is taken by its body', async () => {
    source = { body: code('two'), headers: { etag: '"1"', 'x-said': 'one' } };
    const id = lambda(`${base}/code.js`);
    expect(await call(id)).toBe('two');
    source = { body: code('three'), headers: { etag: '"1"' } };
    nowMs += MINUTE_MS;
    expect(await call(id)).toBe('two');
  });
});

it('the first call of a package of many files keeps no other call waiting', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, n) => [`lib/${n % 100}/${n}.js`, `exports.n = ${n}`]),
  );
  source = (response) => response.end(zipOf({ ...files, 'index.js': code('large') }));
  const other = service.lambda(code('other'));
  await call(other);
  const order: string[] = [];
  const large = call(lambda(`${base}/large.zip`)).then((result) => order.push(result));
  order.push(await call(other));
  await large;
  expect(order).toEqual(['other', 'large']);
});
