import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/**
 * The limit of a process's heap is a flag of V8, and with other flags than Node was built with V8 takes none of the code that it
 * has compiled of Node's own modules: scripts/build-child.mjs takes the flag away once it applies.
 */
let service: TestLambdaService;

beforeEach(async () => {
  service = await TestLambdaService.start();
});
afterEach(() => service.stop());

const MEMORY_MB = 96;
/** On top of that V8 counts what is young. */
const YOUNG_MB = 64;

/** A process of its own, and a spare. */
const PROCESSES = { 'without a spare': { NODE_OPTIONS: '--no-deprecation' }, 'of a spare': {} };

describe.each(Object.entries(PROCESSES))('a process %s', (_what, env) => {
  it('loads Node with the code that Node brings of itself', async () => {
    const code = 'exports.run = async () => require("v8").cachedDataVersionTag()';
    const lambda = service.lambda(code, { env });
    const plain = execFileSync(process.execPath, ['-p', 'require("v8").cachedDataVersionTag()'], { env: {} });
    expect(Number(resultOf(await service.invoke(lambda)))).toBe(Number(plain));
  });
});

const LIMIT = 'require("v8").getHeapStatistics().heap_size_limit / 2 ** 20';

it.each([
  ['its own', `exports.run = async () => ${LIMIT}`],
  [
    'those of several threads',
    `const { Worker } = require('worker_threads');
     const code = 'require("worker_threads").parentPort.postMessage(${LIMIT})';
     const limit = () => new Promise((ok, no) => new Worker(code, { eval: true }).on('message', ok).on('error', no));
     exports.run = async () => Math.max(await limit(), ...(await Promise.all([limit(), limit(), limit()])))`,
  ],
])('limits a heap all the same: %s', async (_whose, code) => {
  const lambda = service.lambda(code, { env: PROCESSES['without a spare'], memory: MEMORY_MB });
  const limitMb = Number(resultOf(await service.invoke(lambda)));
  expect(limitMb).toBeGreaterThanOrEqual(MEMORY_MB);
  expect(limitMb).toBeLessThan(MEMORY_MB + YOUNG_MB);
});

it('leaves a lambda the warnings that it has asked for', async () => {
  const code = `exports.run = async () => {
    const warning = new Promise((resolve) => process.once('warning', ({ code }) => resolve(code)));
    process.binding('util');
    return warning;
  }`;
  const lambda = service.lambda(code, { env: { NODE_OPTIONS: '--pending-deprecation' } });
  const { outcome, logs } = await service.invoke(lambda);
  expect(outcome.ok).toBe(true);
  expect(logs.map(({ text }) => text).join('\n')).toContain('DEP0111');
});
