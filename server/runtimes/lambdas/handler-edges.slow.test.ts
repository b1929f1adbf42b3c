import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import { zipOf } from '../../testing/zip.ts';

/* What people put into packages and handlers besides the plain case (D-056, D-057, D-138, D-142). */

const pages = new Map<string, Buffer>();
const server = createServer((request, response) => response.end(pages.get(request.url ?? '')));
let base: string;
let service: TestLambdaService;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await TestLambdaService.start();
});
afterAll(async () => {
  await service.stop();
  server.close();
  server.closeAllConnections();
});

let zips = 0;
function run(files: Record<string, string>, handler: string, event = '') {
  zips += 1;
  pages.set(`/${zips}.zip`, zipOf(files));
  return service.run('', { code_type: 'package', package_url: `${base}/${zips}.zip`, handler }, event);
}

describe('a package', () => {
  it.each<[string, Record<string, string>, string, string]>([
    [
      'of ES modules by its package.json',
      {
        'package.json': '{"type":"module"}',
        'index.js': 'import { n } from "./n.js"; export const run = () => n',
        'n.js': 'export const n = "esm"',
      },
      'index.run',
      'esm',
    ],
    [
      'with top-level await',
      { 'index.mjs': 'const n = await Promise.resolve("awaited"); export const run = () => n' },
      'index.run',
      'awaited',
    ],
    [
      'whose modules have main and exports',
      {
        'index.js': 'exports.run = () => require("a") + require("b/part")',
        'node_modules/a/package.json': '{"main":"lib/entry.js"}',
        'node_modules/a/lib/entry.js': 'module.exports = "main "',
        'node_modules/b/package.json': '{"exports":{"./part":"./hidden.js"}}',
        'node_modules/b/hidden.js': 'module.exports = "exports"',
      },
      'index.run',
      'main exports',
    ],
    [
      'with JSON modules',
      { 'index.js': 'const { a } = require("./data.json"); exports.run = () => a', 'data.json': '{"a":"json"}' },
      'index.run',
      'json',
    ],
    [
      'in nested folders',
      {
        'src/api/handlers/main.js': 'exports.run = () => require("../../lib").x',
        'src/lib/index.js': 'exports.x = "nested"',
      },
      'src/api/handlers/main.run',
      'nested',
    ],
    [
      'that reads its own files',
      {
        'src/index.js':
          'const fs = require("fs"), path = require("path"); exports.run = () => fs.readFileSync(path.join(__dirname, "t.txt"), "utf8") + fs.readFileSync("root.txt", "utf8") + path.basename(__filename)',
        'src/t.txt': 'beside ',
        'root.txt': 'cwd ',
      },
      'src/index.run',
      'beside cwd index.js',
    ],
    [
      'with paths beyond ASCII and spaces',
      { 'grüße/ein würfel.js': 'exports.run = () => require("./☃.js")', 'grüße/☃.js': 'module.exports = "snow"' },
      'grüße/ein würfel.run',
      'snow',
    ],
  ])('%s runs', async (_what, files, handler, answer) => {
    expect(resultOf(await run(files, handler))).toBe(answer);
  });

  it('of which the package.json names a main has its handler there when it is named so', async () => {
    const files = { 'package.json': '{"main":"dist/app.js"}', 'dist/app.js': 'exports.run = () => "main"' };
    expect(resultOf(await run(files, 'dist/app.run'))).toBe('main');
  });
});

describe('the output of a handler', () => {
  it('is as Node prints it, whichever method it takes', async () => {
    const code = `exports.run = () => { console.group('outer'); console.log('%s is %d', 'a', 1, { b: 2 }); console.groupEnd();
      console.table([{ x: 1 }]); console.dir({ deep: { er: { still: { more: 1 } } } }, { depth: 0 }); console.error('%s', new Error('bad').message);
      console.assert(false, 'no'); console.count(); console.info('i'); console.debug('d'); console.warn('w'); return 'done' }`;
    const { logs, ...invocation } = await service.run(code);
    expect(resultOf({ logs, ...invocation })).toBe('done');
    const textsOf = (stream: string) => logs.filter((line) => line.stream === stream).map(({ text }) => text);
    expect(textsOf('stdout').slice(0, 2)).toEqual(['outer', '  a is 1 { b: 2 }']);
    expect(textsOf('stdout').slice(-4)).toEqual(['{ deep: [Object] }', 'default: 1', 'i', 'd']);
    expect(textsOf('stderr')).toEqual(['bad', 'Assertion failed: no', 'w']);
  });
});

describe('a handler that', () => {
  it('ends its process is a crash that says so, and the next call has another', async () => {
    const id = service.lambda('exports.run = (event) => { if (event === "1") process.exit(3); return "alive" }');
    expect(failureOf(await service.invoke(id, '1'))).toMatch(/^crash: .*3/);
    expect(resultOf(await service.invoke(id, '2'))).toBe('alive');
  });

  it('leaves a rejection behind after its answer has answered', async () => {
    const id = service.lambda(
      'exports.run = (e, c, cb) => { cb(null, "ok"); setTimeout(() => Promise.reject(new Error("late")), 5) }',
    );
    expect(resultOf(await service.invoke(id))).toBe('ok');
    await expect.poll(() => service.lambdas.log(id, { time: 'all' }).join('\n')).toContain('late');
    expect(resultOf(await service.invoke(id))).toBe('ok');
  });

  it.each([
    ['a Date', 'new Date(0)', '"1970-01-01T00:00:00.000Z"'],
    ['NaN', 'NaN', 'null'],
    ['false', 'false', 'false'],
    ['an empty text', '""', ''],
  ])('gives back %s is answered as JSON makes it', async (_what, value, answer) => {
    expect(resultOf(await service.run(`exports.run = (event) => (${value})`))).toBe(answer);
    expect(resultOf(await service.run(`exports.run = async () => (${value})`))).toBe(answer);
  });

  it.each([
    ['a Buffer', 'Buffer.from([0, 255, 97])', '00ff61'],
    ['a typed array', 'new Uint8Array([1, 255])', '01ff'],
    ['an array of larger numbers', 'new Uint16Array([1, 2])', '01000200'],
    ['a view of a larger buffer', 'new Uint8Array(new ArrayBuffer(100), 10, 2).fill(254)', 'fefe'],
    ['an ArrayBuffer', 'new Uint8Array([3, 4]).buffer', '0304'],
    ['no bytes', 'Buffer.alloc(0)', ''],
  ])('gives back %s is answered with those bytes', async (_what, value, hex) => {
    for (const handler of [`() => (${value})`, `async () => (${value})`, `(e, c, cb) => cb(null, ${value})`]) {
      const { outcome } = await service.run(`exports.run = ${handler}`);
      expect(outcome).toMatchObject({ ok: true, value: { kind: 'bytes' } });
      const { value: returnedValue } = outcome;
      expect('bytes' in returnedValue && Buffer.from(returnedValue.bytes).toString('hex')).toBe(hex);
    }
  });

  it('gives back too many bytes is refused, and so is a stream', async () => {
    expect(failureOf(await service.run('exports.run = () => Buffer.alloc(60e6)'))).toMatch(
      /^too-large: .* 60000000 bytes/,
    );
    expect(failureOf(await service.run('exports.run = () => new Blob(["x"]).stream()'))).toMatch(
      /^invalid-result: the handler's result is a ReadableStream, which cannot be sent: return a string/,
    );
  });

  it.each(['20x', 99, 600, -1, '-1', 'ok'])(
    'gives back status %j at an http-aware endpoint is reported in the log',
    async (status) => {
      const value = JSON.stringify(status);
      for (const name of ['statusCode', 'status']) {
        const id = service.lambda(`exports.run = () => ({ ${name}: ${value}, body: 'x' })`);
        const { logs, outcome } = await service.invoke(id, '', { httpAware: true, apiEndpointId: id });
        expect(outcome).toMatchObject({ ok: true, value: { kind: 'json' } });
        expect(logs.map(({ text }) => text)).toEqual([
          expect.stringContaining(`the result has '${name}' ${value}, which is not a status from 200 to 599`),
        ]);
      }
    },
  );

  it('gives back an http-aware response whose body is bytes is given them in base64', async () => {
    const id = service.lambda('exports.run = () => ({ statusCode: 200, body: Buffer.from([0, 255]) })');
    const invocation = await service.invoke(id, '', { httpAware: true });
    expect(JSON.parse(resultOf(invocation))).toEqual({ statusCode: 200, body: 'AP8=', isBase64Encoded: true });
  });

  /**
   * Resolves with the invocation of a handler that returns the result to an http-aware endpoint, and the text of its
   * log.
   */
  const inAnswer = async (result: string, httpAware = true) => {
    const id = service.lambda(`exports.run = async () => (${result})`);
    const invocation = await service.invoke(id, '', { httpAware, apiEndpointId: id });
    return { invocation, said: invocation.logs.map(({ text }) => text.replace('[terrarium] ', '')) };
  };

  it.each([
    [
      "{ headers: { a: 'b' }, body: 'x' }",
      "the result has 'body' and 'headers' but no 'statusCode', so the whole result is sent as JSON; write: statusCode: 200 (D-140)",
    ],
    [
      "{ status_code: 201, body: 'x' }",
      "the result has 'status_code' but no 'statusCode', so the whole result is sent as JSON; write: statusCode: 201 (D-140)",
    ],
    [
      "JSON.stringify({ statusCode: 201, body: 'x' })",
      'the result is a string and is sent as text, although it looks like an HTTP response; write: return { statusCode, headers, body } without JSON.stringify (D-140)',
    ],
    [
      "{ statusCode: 200, body: new Blob(['x']) }",
      "the 'body' of the result is a Blob, which is empty as JSON; give a string, bytes or a plain value",
    ],
  ])('gives back %s at an http-aware endpoint is explained in the log', async (result, line) => {
    expect((await inAnswer(result)).said).toEqual([line]);
  });

  it.each([
    ['a stream', "require('fs').createReadStream(__filename)", 'a ReadStream'],
    ['a stream of the web', "new Response('x').body", 'a ReadableStream'],
    ['a Promise', "Promise.resolve('x')", 'a Promise'],
  ])('gives back %s as the body of an HTTP response is refused', async (_what, body, name) => {
    const { invocation } = await inAnswer(`{ statusCode: 200, body: ${body} }`);
    expect(failureOf(invocation)).toBe(
      `invalid-result: the 'body' of the handler's result is ${name}, which cannot be sent: wait for its end, and give a string, bytes or a plain value`,
    );
  });

  it.each(['Object.assign(new Headers({ "x-a": "1" }), {})', 'new Map([["x-a", "1"]])'])(
    'gives back headers as %s has them in the HTTP response',
    async (headers) => {
      const { invocation, said: logLines } = await inAnswer(`{ statusCode: 200, headers: ${headers}, body: 'x' }`);
      expect(JSON.parse(resultOf(invocation))).toEqual({ statusCode: 200, headers: { 'x-a': ['1'] }, body: 'x' });
      expect(logLines).toEqual([]);
    },
  );

  it('gives back a String object is sent as the same JSON by an http-aware endpoint and another', async () => {
    for (const httpAware of [true, false])
      expect(resultOf((await inAnswer("new String('x')", httpAware)).invocation)).toBe('"x"');
  });

  it('has returned a value and never calls back has that as its result at the timeout', async () => {
    const code = 'exports.run = (event, context, callback) => { setInterval(() => {}, 1000); return "held" }';
    const invocation = await service.run(code, { timeout: 2 });
    expect(resultOf(invocation)).toBe('held');
    expect(invocation.logs.map(({ text }) => text).join()).toMatch(
      /did not call its callback within the timeout.*Timeout/,
    );
  });

  it('has a large environment sees all of it', async () => {
    const env = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`NAME_${n}`, 'x'.repeat(100)]));
    const code = 'exports.run = () => Object.keys(process.env).filter((n) => n.startsWith("NAME_")).length';
    expect(resultOf(await service.run(code, { env }))).toBe('2000');
  });
});
