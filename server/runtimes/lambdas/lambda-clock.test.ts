import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let service: TestLambdaService;
let aheadMs = 0;
beforeAll(async () => {
  service = await TestLambdaService.start();
});
afterAll(() => service.stop());
beforeEach(() => setAhead(0));

function setAhead(ms: number): void {
  service.lambdas.clockMoved(ms - aheadMs);
  aheadMs = ms;
}

/** Expects times that a lambda returns as JSON to be those of a clock that is so much ahead. */
async function expectAhead(id: string, ms: number): Promise<void> {
  const earliest = Date.now() + ms;
  const times: number[] = JSON.parse(resultOf(await service.invoke(id)));
  for (const time of times) {
    expect(time).toBeGreaterThanOrEqual(earliest);
    expect(time).toBeLessThanOrEqual(Date.now() + ms);
  }
}

it('a lambda sees the advanced clock in Date, also one that runs already, until the clock is reset (D-222)', async () => {
  const id = service.lambda(
    `const { now } = Date; exports.run = () => [Date.now(), new Date().getTime(), +new (class extends Date {})(), globalThis.Date.now()]`,
  );
  await expectAhead(id, 0);
  setAhead(DAY_MS);
  await expectAhead(id, DAY_MS);
  await expectAhead(service.lambda('exports.run = () => [Date.now(), +new Date()]'), DAY_MS);
  setAhead(0);
  await expectAhead(id, 0);
});

it('dates stay dates', async () => {
  setAhead(DAY_MS);
  const code = `exports.run = () => [new Date() instanceof Date, new Date().constructor === Date, typeof Date(), new Date(5).getTime(),
    Date.UTC(1970, 0), new Date(1970, 0).getFullYear(), Object.prototype.toString.call(new Date()), Date.name]`;
  const result = JSON.parse(resultOf(await service.run(code)));
  expect(result).toEqual([true, true, 'string', 5, 0, 1970, '[object Date]', 'Date']);
});

it('the deadline of a call, threads and Node processes follow the advanced clock', async () => {
  setAhead(DAY_MS);
  const code = `const { Worker } = require('worker_threads'); const { execFileSync } = require('child_process');
    exports.run = async (event, context) => {
      const worker = new Worker("require('worker_threads').parentPort.postMessage(Date.now())", { eval: true });
      const inThread = await new Promise((resolve) => worker.once('message', resolve));
      return [inThread, Number(execFileSync(process.execPath, ['-p', 'Date.now()'])), JSON.parse(context).deadline - 60_000];
    }`;
  await expectAhead(service.lambda(code), DAY_MS);
});
