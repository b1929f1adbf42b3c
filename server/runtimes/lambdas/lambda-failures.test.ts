import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, HOLD_BUFFERS, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

let service: TestLambdaService;
beforeAll(async () => {
  service = await TestLambdaService.start({ limits: { resultBytes: 1024 * 1024 } });
});
afterAll(() => service.stop());

describe('each failure of D-139 has its own outcome and message', () => {
  it('a timeout names the limit', async () => {
    const invocation = await service.run(
      'exports.run = () => { setInterval(() => {}, 20); return new Promise(() => {}) }',
      { timeout: 0.3 },
    );
    expect(failureOf(invocation)).toMatch(
      /^timeout: the handler returned no result within 0.3 s \(the lambda's 'timeout'\)/,
    );
  });

  it('a call that finished while the platform slept past its limit does not time out', async () => {
    const done = join(tmpdir(), `finished-${randomUUID()}`);
    const code = `exports.run = (event) => {
        if (event) setTimeout(() => require('fs').writeFileSync(process.env.DONE, ''), 20);
        return 'finished';
      }`;
    const lambda = service.lambda(code, { timeout: 60, env: { DONE: done } });
    resultOf(await service.invoke(lambda));
    service.change(lambda, code, { timeout: 1, env: { DONE: done } });
    const answer = service.invoke(lambda, '1');
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    while (!existsSync(done)) sleep(10);
    sleep(1_500);
    expect(resultOf(await answer)).toBe('finished');
    await rm(done);
  });

  it('running out of memory names the limit', async () => {
    const code = 'exports.run = () => { const all = []; for (;;) all.push(new Array(10000).fill(all.length)) }';
    const invocation = await service.run(code, { memory: 48 });
    expect(failureOf(invocation)).toMatch(
      /^crash: the lambda ran out of memory at 48 MB; increase its property 'memory'/,
    );
  });

  it('memory outside of the heap counts too', async () => {
    const invocation = await service.run(HOLD_BUFFERS, { memory: 48 });
    expect(failureOf(invocation)).toMatch(/^crash: the lambda ran out of memory at 48 MB/);
  });

  it('a process that ends names its exit code or its signal', async () => {
    expect(failureOf(await service.run('exports.run = () => process.exit(3)'))).toMatch(/^crash: .* exit code 3/);
    expect(failureOf(await service.run('exports.run = () => process.kill(process.pid, "SIGTERM")'))).toMatch(
      /^crash: .* signal SIGTERM/,
    );
  });

  it('calls that are not intercepted are named', async () => {
    const rejection = 'exports.run = (event, context, callback) => { Promise.reject(new Error("lost")) }';
    expect(failureOf(await service.run(rejection))).toMatch(/^crash: unhandled rejection: lost \(/);
    const exception = 'exports.run = (event, context, callback) => { setTimeout(() => { throw new Error("thrown") }) }';
    const invocation = await service.run(exception);
    expect(failureOf(invocation)).toMatch(/^crash: uncaught exception: thrown \(/);
    expect(invocation.logs.some(({ text }) => /at .*index\.js:1/.test(text))).toBe(true);
  });

  it('a handler that is not there names those that are', async () => {
    expect(failureOf(await service.run('exports.a = () => 1; exports.b = 2'))).toBe(
      "load: handler 'run' is not exported by index.js; its exports are a, b: export it under that name, or change the lambda's property 'handler'",
    );
    expect(failureOf(await service.run('export const a = 1; export default { b: 2 }'))).toMatch(
      /its exports are a, b: /,
    );
    expect(failureOf(await service.run('const a = 1'))).toMatch(/; it exports nothing: /);
    expect(failureOf(await service.run('exports.run = 5'))).toBe("load: handler 'run' is a number, not a function");
  });

  it('a handler that is named like a member that every object or function inherits is not there', async () => {
    for (const [code, handler] of [
      ['exports.run = () => 1', 'constructor'],
      ['exports.run = () => 1', 'toString'],
      ['module.exports = new (class { run() { return 1; } })()', 'constructor'],
      ['export const run = () => 1; export default { run }', 'hasOwnProperty'],
    ] as const) {
      const invocation = await service.invoke(service.lambda(code, { handler }));
      expect(failureOf(invocation)).toContain(
        `load: handler '${handler}' is not exported by index.js; its exports are run`,
      );
    }
    const lambdaId = service.lambda('exports.constructor = () => "own"', { handler: 'constructor' });
    expect(resultOf(await service.invoke(lambdaId))).toBe('own');
  });

  it('a syntax error names its line and column, in either kind of module', async () => {
    expect(failureOf(await service.run('exports.run = () => {\n  const x = ;\n}'))).toBe(
      "load: syntax error in index.js, line 2, column 13: Unexpected token ';' in: const x = ;",
    );
    expect(failureOf(await service.run('import fs from "fs";\n\nexport const run = () => {\n  const x = ;\n}'))).toBe(
      "load: syntax error in index.js, line 4, column 13: Unexpected token ';' in: const x = ;",
    );
  });

  it('code that fails at its top level names the reason', async () => {
    expect(failureOf(await service.run('require("left-pad")'))).toMatch(
      /^load: index.js failed to load: Cannot find module 'left-pad'; .*'npm install left-pad'/,
    );
    expect(failureOf(await service.run('import "left-pad"'))).toMatch(
      /^load: index.js failed to load: Cannot find package 'left-pad'/,
    );
    expect(failureOf(await service.run('throw new Error("no settings")'))).toBe(
      'load: index.js failed to load: no settings',
    );
    expect(failureOf(await service.run('process.exit(4)'))).toMatch(/^crash: .* exit code 4/);
  });

  it('a result that is too large names both sizes', async () => {
    const code = 'exports.run = (event) => "x".repeat(Number(event))';
    expect(resultOf(await service.run(code, {}, String(1024 * 1024)))).toHaveLength(1024 * 1024);
    expect(failureOf(await service.run(code, {}, String(1024 * 1024 + 1)))).toBe(
      'too-large: the result has 1048577 bytes; at most 1048576 are allowed',
    );
  });

  it('a result that is no JSON says why', async () => {
    expect(failureOf(await service.run('exports.run = () => { const a = {}; a.a = a; return a }'))).toMatch(
      /^invalid-result: .*circular/i,
    );
    expect(failureOf(await service.run('exports.run = () => ({ count: 10n })'))).toMatch(/^invalid-result: .*BigInt/);
  });

  it('a runtime that is not emulated, and a lambda that is not there, need no process', async () => {
    const python = service.lambda('print(1)', { runtime: 'python3' });
    expect(failureOf(await service.invoke(python))).toMatch(/^runtime: .* 'python3'; only Node.js is supported$/);
    expect(service.lambdas.refusal(python)).toMatchObject({ failure: 'runtime' });
    for (const runtime of ['NodeJS', 'node', 'nodejs20.x', 'Node 18', 'node.js']) {
      expect(service.lambdas.refusal(service.lambda('', { runtime }))).toBeUndefined();
    }
    const anonymous = randomUUID();
    expect(failureOf(await service.invoke(anonymous))).toMatch(/^deleted: /);
    expect(service.lambdas.refusal(anonymous)).toMatchObject({ failure: 'deleted' });
  });

  it('a lambda that was called before runs no more while its deletion is being written', async () => {
    const id = service.lambda('exports.run = () => 1');
    expect(resultOf(await service.invoke(id))).toBe('1');
    service.remove(id, false);
    expect(failureOf(await service.invoke(id))).toMatch(/^deleted: /);
    expect(service.lambdas.refusal(id)).toMatchObject({ failure: 'deleted' });
  });

  it('is written to the log of the lambda as well (D-124)', async () => {
    const id = service.lambda('exports.run = () => process.exit(3)');
    await service.invoke(id);
    expect(service.lambdas.log(id, {}).at(-1)).toMatch(/^\[terrarium\] crash: .* exit code 3/);
  });
});
