import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invocation } from '../../model/invocation.ts';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/** Says `pong` a while after it was written to: another server's answer, by a connection that stays. */
const ponger = createServer((socket) => {
  socket.on('data', () => setTimeout(() => socket.write('pong'), 150)).on('error', () => {});
});

let service: TestLambdaService;
let env: { PONGER: string };
beforeAll(async () => {
  service = await TestLambdaService.start();
  await new Promise<void>((resolve) => ponger.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  env = { PONGER: String((ponger.address() as AddressInfo).port) };
});
afterAll(async () => {
  await service.stop();
  ponger.close();
});

const notesOf = ({ logs }: Invocation) =>
  logs.filter(({ text }) => text.startsWith('[terrarium]')).map(({ text }) => text);

const NO_CALLBACK = /^\[terrarium\] the handler ended without calling its callback/;
const NEVER_SETTLED = /^\[terrarium\] the handler neither settled its promise nor called its callback/;

describe('a handler that calls back later is waited for (D-138)', () => {
  it.concurrent.each([
    ['with three parameters', '(event, context, callback) => { setTimeout(() => callback(null, "late"), 50) }'],
    ['by an expression that is a timer', '(event, context, callback) => setTimeout(callback, 50, null, "late")'],
    ['by an expression that is an immediate', '(event, context, callback) => setImmediate(callback, null, "late")'],
    [
      'by an expression that is a request',
      '(event, context, callback) => require("http").get("http://127.0.0.1:4").on("error", () => callback(null, "late"))',
    ],
    [
      'by an expression that is a socket',
      '(event, context, callback) => socket.once("data", () => callback(null, "late")).write("ping")',
    ],
    ['with a default', '(event, context, callback = () => {}) => { setTimeout(() => callback(null, "late"), 50) }'],
    [
      'with a default in front',
      '(event = "{}", context = "{}", callback) => { setTimeout(() => callback(null, "late"), 50) }',
    ],
    ['by rest', '(...args) => { setTimeout(() => args[2](null, "late"), 50) }'],
    ['by rest of rest', '(event, ...[context, callback]) => { setTimeout(() => callback(null, "late"), 50) }'],
    ['by arguments', 'function () { setTimeout(() => arguments[2](null, "late"), 50) }'],
    ['in a wrapper', 'wrap((event, context, callback) => { setTimeout(() => callback(null, "late"), 50) })'],
    [
      'bound',
      '(function (event, context, callback) { setTimeout(() => callback(null, String(this)), 50) }).bind("late")',
    ],
    ['of a Proxy', 'new Proxy((event, context, callback) => { setTimeout(() => callback(null, "late"), 50) }, {})'],
    [
      'promisified and back',
      'util.callbackify(async () => "late").length && ((...args) => util.callbackify(async () => "late")(args[2]))',
    ],
    ['async', 'async (event, context, callback) => { setTimeout(() => callback(null, "late"), 50) }'],
    [
      'async, by an expression that is a timer',
      'async (event, context, callback) => setTimeout(callback, 50, null, "late")',
    ],
    [
      'and returned a Promise of a Promise of nothing',
      '(event, context, callback) => { setTimeout(callback, 50, null, "late"); return Promise.resolve(Promise.resolve()) }',
    ],
    [
      'and returned text before',
      '(event, context, callback) => { setTimeout(callback, 50, null, "late"); return "early" }',
    ],
    [
      'and returned an instance before',
      '(event, context, callback) => { setTimeout(callback, 50, null, "late"); return new (class Lead {})() }',
    ],
    ['from a file', '(event, context, callback) => { fs.readFile(__filename, () => callback(null, "late")) }'],
    [
      'from the thread pool',
      '(event, context, callback) => { crypto.pbkdf2("a", "b", 20000, 8, "sha1", () => callback(null, "late")) }',
    ],
    ['from zlib', '(event, context, callback) => { zlib.gzip("x".repeat(1e6), () => callback(null, "late")) }'],
    ['from a child process', '(event, context, callback) => { cp.exec("sleep 0.1", () => callback(null, "late")) }'],
    [
      'from a worker',
      '(event, context, callback) => { new (require("worker_threads").Worker)("setTimeout(() => {}, 50)", { eval: true }).on("exit", () => callback(null, "late")) }',
    ],
    [
      'on a connection that was there before',
      '(event, context, callback) => { socket.once("data", () => callback(null, "late")); socket.write("ping") }',
    ],
    [
      'while a timer of the module ends',
      '(event, context, callback) => { fired = "late"; setTimeout(() => callback(null, fired), 200) }',
    ],
    [
      'after it changed Function.prototype.toString',
      '(Function.prototype.toString = () => "() => {}", (...args) => { setTimeout(args[2], 50, null, "late") })',
    ],
  ])('%s', async (_shape, source) => {
    const code = `
      const fs = require('fs'), cp = require('child_process'), crypto = require('crypto'), util = require('util'), zlib = require('zlib');
      const wrap = (inner) => function () { return inner.apply(this, arguments) };
      setInterval(() => {}, 20); setTimeout(() => {}, 100);
      const socket = require('net').connect(process.env.PONGER, '127.0.0.1');
      require('http').createServer().listen(0);
      let fired;
      exports.run = ${source};`;
    const id = service.lambda(code, { env });
    for (let call = 1; call <= 2; call += 1) {
      const invocation = await service.invoke(id);
      expect(resultOf(invocation)).toBe('late');
      expect(notesOf(invocation)).toEqual([]);
    }
  });
});

describe('a handler that could call back and does not ends when nothing is left that could (D-138)', () => {
  it.concurrent.each([
    ['having returned nothing', '(event, context, callback) => {}', '', [NO_CALLBACK]],
    ['having resolved to nothing', 'async (...args) => {}', '', [NO_CALLBACK]],
    ['having resolved to nothing, twice', '(...args) => Promise.resolve(Promise.resolve())', '', [NO_CALLBACK]],
    [
      'having done something',
      '(event, context, callback) => { setTimeout(() => console.log("done"), 50) }',
      '',
      [NO_CALLBACK],
    ],
    ['having returned text', '(event, context, callback) => { setTimeout(() => {}, 50); return "held" }', 'held', []],
    ['having returned a number', '(...args) => 0', '0', []],
    ['having returned a boolean', '(...args) => false', 'false', []],
    ['having returned an object', '(...args) => ({ held: true })', '{"held":true}', []],
    ['having returned an array', '(...args) => [1]', '[1]', []],
    ['having returned bytes', '(...args) => new Uint8Array([97])', 'a', []],
    ['having returned null', '(...args) => null', '', []],
    ['having returned a timer', '(event, context, callback) => setTimeout(() => {}, 50)', '', [NO_CALLBACK]],
    [
      'having returned a Promise that never settles',
      '(event, context, callback) => new Promise(() => {})',
      '',
      [NEVER_SETTLED],
    ],
    ['having returned a thenable that never settles', '(...args) => ({ then() {} })', '', [NEVER_SETTLED]],
    [
      'having caught everything',
      '(event, context, callback) => { process.on("uncaughtException", () => {}); setTimeout(() => { throw 1 }) }',
      '',
      [NO_CALLBACK],
    ],
  ])('%s', async (_shape, source, answer, notes) => {
    // Timers and handles that were active before do not count: those of the module and of earlier calls.
    const code = `
      let calls = 0;
      setInterval(() => {}, 20).ref();
      const socket = require('net').connect(process.env.PONGER, '127.0.0.1');
      require('http').createServer().listen(0);
      const handler = ${source};
      exports.run = (...args) => {
        calls += 1;
        if (calls === 1) { setTimeout(() => {}, 60000); args[2](null, "first") }
        else return handler(...args);
      };`;
    const id = service.lambda(code, { env });
    expect(resultOf(await service.invoke(id))).toBe('first');
    for (let call = 1; call <= 2; call += 1) {
      const invocation = await service.invoke(id);
      expect(resultOf(invocation)).toBe(answer);
      expect(notesOf(invocation)).toEqual(notes.map((note) => expect.stringMatching(note)));
      expect(invocation.cold).toBe(false);
    }
  });

  it('and its process, isolated, is not ended before', async () => {
    const code = 'exports.run = (event, context, callback) => { setTimeout(() => console.log("done"), 200) }';
    const invocation = await service.run(code, { isolate: true });
    expect(resultOf(invocation)).toBe('');
    expect(invocation.logs.map(({ text }) => text)).toEqual(['done', expect.stringMatching(NO_CALLBACK)]);
  });

  it('with the returned value as the result also if the process is busy at the timeout', async () => {
    const code = `exports.run = (event, context, callback) => {
      setTimeout(() => { for (const until = Date.now() + 500; Date.now() < until; ); }, 700);
      setInterval(() => {}, 20);
      return "held";
    }`;
    expect(resultOf(await service.run(code, { timeout: 1 }))).toBe('held');
  });

  it('unless a pending operation could: then the timeout decides', async () => {
    const code = (value: string) =>
      `exports.run = (event, context, callback) => { setInterval(() => {}, 20); return ${value} }`;
    expect(resultOf(await service.run(code('"held"'), { timeout: 2 }))).toBe('held');
    expect(failureOf(await service.run(code('undefined'), { timeout: 0.4 }))).toMatch(/^timeout: /);
  });
});

describe('a handler that cannot call back', () => {
  it.concurrent.each([
    ['nothing', '() => {}', ''],
    ['a Promise of nothing', 'async (event, context) => {}', ''],
    ['text, with something left to do', '(event) => { setInterval(() => {}, 20); return "now" }', 'now'],
    ['an instance', '(event) => new (class { constructor() { this.a = 1 } })()', '{"a":1}'],
    [
      'a Promise of a Promise of a thenable',
      'async () => Promise.resolve({ then: (resolve) => resolve("deep") })',
      'deep',
    ],
  ])('answers at once: %s', async (_what, source, answer) => {
    const invocation = await service.run(`exports.run = ${source}`);
    expect(resultOf(invocation)).toBe(answer);
    expect(invocation.logs).toEqual([]);
  });

  it.each(['new Promise(() => {})', '({ then() {} })'])(
    'and whose Promise can never settle is ended by its timeout; the log says at once why: %s',
    async (source) => {
      const code = `exports.run = () => ${source}`;
      expect(failureOf(await service.run(code, { timeout: 0.5 }))).toMatch(/^timeout: /);
      const waiting = service.lambda(code, { timeout: 600 });
      void service.invoke(waiting);
      const log = () => service.lambdas.log(waiting, {}).join('\n');
      await expect.poll(log).toMatch(/nothing is left that could settle the handler's promise/);
    },
  );
});

describe('a handler that goes wrong has one outcome, and the pool serves others', () => {
  it.concurrent.each([
    [
      'throws and calls back later',
      '(e, c, callback) => { Promise.resolve().then(() => callback(null, 1)); throw new Error("first") }',
      /^error: first$/,
    ],
    [
      'rejects and calls back later',
      'async (e, c, callback) => { setTimeout(() => callback(null, 1)); throw new Error("first") }',
      /^error: first$/,
    ],
    [
      'returns a Proxy that throws',
      '() => new Proxy({}, { get() { throw new Error("trap") }, has() { throw new Error("trap") } })',
      /^error: trap$/,
    ],
    [
      'returns a Proxy that throws, and could call back',
      '(...args) => new Proxy({}, { getPrototypeOf() { throw new Error("trap") } })',
      /^error: trap$/,
    ],
    [
      'resolves to a Proxy that throws',
      'async () => new Proxy({}, { get(t, name) { if (name !== "then") throw new Error("trap") } })',
      /^invalid-result: .*trap/,
    ],
    ['returns a thenable whose then throws', '() => ({ get then() { throw new Error("trap") } })', /^error: trap$/],
    ['returns a thenable that throws when asked', '() => ({ then() { throw new Error("trap") } })', /^error: trap$/],
    ['contains what cannot be sent', '(...args) => { const a = {}; a.a = a; return a }', /^invalid-result: .*circular/],
  ])('%s', async (_what, source, failure) => {
    const id = service.lambda(`const wrong = ${source}; exports.run = (...args) => args[0] ? wrong(...args) : 0`);
    for (let call = 1; call <= 2; call += 1) expect(failureOf(await service.invoke(id, 'x'))).toMatch(failure);
  });
});

describe('valid exports of a module (D-139)', () => {
  it.concurrent.each([
    ['index.js', 'module.exports = (event, context, callback) => callback(null, "ok")'],
    ['index.js', 'module.exports = async () => "ok"'],
    ['index.js', 'exports.default = (event, context, callback) => setTimeout(callback, 20, null, "ok")'],
    [
      'index.js',
      'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { run: () => "ok" }',
    ],
    ['index.js', 'module.exports.default = module.exports.run = () => "ok"'],
    [
      'index.js',
      'class Lead { text = "ok"; run(event, context, callback) { setTimeout(() => callback(null, this.text), 20) } } module.exports = new Lead()',
    ],
    [
      'index.js',
      'class Base { run() { return this.text } } module.exports = new (class extends Base { text = "ok" })()',
    ],
    ['index.js', 'module.exports = class { static text = "ok"; static run() { return this.text } }'],
    ['index.js', 'Object.defineProperty(exports, "run", { enumerable: true, get: () => () => "ok" })'],
    ['index.js', 'module.exports = { get run() { return (...args) => args[2](null, "ok") } }'],
    ['index.js', 'export const run = () => "ok"'],
    ['index.mjs', 'export default (event, context, callback) => setTimeout(callback, 20, null, "ok")'],
    ['index.mjs', 'export default new (class { text = "ok"; run() { return this.text } })()'],
    ['index.mjs', 'export * from "./compiled.cjs"; export { default } from "./compiled.cjs"'],
    ['index.mjs', 'const it = await import("./compiled.cjs"); export default it.default'],
    ['index.mjs', 'export { default as run } from "./whole.cjs"'],
    ['index.cjs', 'exports.run = () => "ok"'],
  ])('%s: %s', async (name, code) => {
    const folder = path.join(service.folder, `exports-${Math.random()}`);
    await mkdir(folder);
    await writeFile(path.join(folder, name), code);
    await writeFile(path.join(folder, 'whole.cjs'), 'module.exports = () => "ok"');
    const compiled = 'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => "ok"';
    await writeFile(path.join(folder, 'compiled.cjs'), compiled);
    const properties = { code_type: 'package', package_url: pathToFileURL(folder).href, handler: 'index.run' };
    expect(resultOf(await service.run('', properties))).toBe('ok');
  });

  it('a class is distinguished from an instance, and a getter that throws is an error', async () => {
    expect(failureOf(await service.run('module.exports = class { run() {} }'))).toBe(
      "load: handler 'run' is a method of the class that index.js exports; export an instance of it",
    );
    expect(failureOf(await service.run('module.exports = new (class { walk() {} })()'))).toMatch(
      /; its exports are walk: export it under that name, or /,
    );
    expect(failureOf(await service.run('module.exports = { get run() { throw new Error("not yet") } }'))).toBe(
      'load: index.js failed to load: not yet',
    );
  });
});
