import { availableParallelism } from 'node:os';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { ProcessReaper } from '../../../system/process-tree.ts';
import { failureOf, HOLD_BUFFERS, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';
import { LambdaProcess } from './lambda-process.ts';
import { fitsSpare, SPARE } from './process-group.ts';
import { SpareProcesses } from './spare-processes.ts';

const TELL_PID = 'exports.run = () => process.pid';
/** Allocates this many MB, half of them in the heap, and returns the limit of its heap in bytes; with 400 or more, it never ends. */
const HOLD_MEMORY = `
  const held = [];
  exports.run = async (event) => {
    for (let mb = 0; mb < Number(event); mb += 2) {
      held.push(Buffer.alloc(1024 * 1024, mb), Array.from({ length: 128 * 1024 }, (_, at) => at + 0.5));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    if (Number(event) >= 400) await new Promise(() => setInterval(() => {}, 1_000));
    return require('v8').getHeapStatistics().heap_size_limit;
  };`;
/** Keeps little, but throws much away. */
const WASTE = `
  let held;
  exports.run = () => {
    for (let round = 0; round < 25; round += 1) held = Array.from({ length: 256 * 1024 }, (_, at) => ({ at, round }));
    return held.length;
  };`;

let service: TestLambdaService | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await service?.stop();
});

const spares = () => service?.lambdas.stats().spares ?? 0;

describe('generic processes that are ready', () => {
  it('serve a lambda that may have less memory, and hold it to that', async () => {
    service = await TestLambdaService.start();
    // Where there is no lambda, no call is likely.
    expect(service.lambdas.stats().processes).toBe(0);
    const id = service.lambda(HOLD_MEMORY, { memory: 64 });
    await expect.poll(() => spares()).toBe(1);
    // A heap of its own size would be far smaller.
    expect(Number(resultOf(await service.invoke(id, '2')))).toBeGreaterThan(400 * 1024 * 1024);
    expect(failureOf(await service.invoke(id, '400'))).toMatch(/^crash: .* memory at 64 MB/);
  });

  it('serve only lambdas that may have as much memory where the system does not show it, and the limit counts what is outside of the heap', async () => {
    service = await TestLambdaService.start({ system: 'darwin' });
    const id = service.lambda(HOLD_MEMORY, { memory: 64 });
    await expect.poll(() => spares()).toBe(1);
    expect(Number(resultOf(await service.invoke(id, '2')))).toBeLessThan(200 * 1024 * 1024);
    const failed = await service.run(HOLD_BUFFERS, { memory: 64 });
    expect(failureOf(failed)).toMatch(/^crash: the lambda ran out of memory at 64 MB/);
  });

  it('serve only lambdas whose process needs the flags of a spare', async () => {
    service = await TestLambdaService.start();
    for (const memory of [512, 1024]) {
      const id = service.lambda('exports.run = () => process.execArgv', { memory });
      await expect.poll(() => spares()).toBeGreaterThan(0);
      expect(JSON.parse(resultOf(await service.invoke(id)))).toContain(`--max-old-space-size=${memory}`);
    }
  });

  it.each([
    [SPARE, true, true],
    [{ ...SPARE, memoryMb: 64 }, true, false],
    [{ ...SPARE, memoryMb: 1024 }, false, false],
    [{ ...SPARE, isDebugged: true }, false, false],
  ])('fit a lambda with %o: %o if its memory can be limited from outside, else %o', (fields, isLimited, isFixed) => {
    expect([fitsSpare(fields, true), fitsSpare(fields, false)]).toEqual([isLimited, isFixed]);
  });

  it('do not count garbage as memory in use', async () => {
    let id = '';
    service = await TestLambdaService.start({}, (world) => {
      id = world.lambda(WASTE, { memory: 64 });
    });
    // What is there at a start may be called at once.
    await expect.poll(() => spares()).toBe(1);
    expect(resultOf(await service.invoke(id))).toBe(String(256 * 1024));
  });

  it('are as many as there are lambdas that are new or changed, and soon no more', async () => {
    let nowMs = Date.now();
    service = await TestLambdaService.start({ steadyMs: () => nowMs });
    const ids = [1, 2, 3].map(() => service?.lambda(TELL_PID) ?? '');
    await expect.poll(() => spares()).toBe(3);
    for (const id of ids) resultOf(await service.invoke(id));
    nowMs += 60_000;
    service.lambda(TELL_PID);
    await expect.poll(() => spares()).toBe(1);
  });

  it('are there soon for what is made right after others were', async () => {
    const startedProcesses: LambdaProcess[] = [];
    const reaper = new ProcessReaper('');
    const options = {
      execPath: process.execPath,
      childFile: inject('lambdaChildFile'),
      env: {},
      fields: SPARE,
      countCall: () => 1,
    };
    const start = (): LambdaProcess => {
      const started = new LambdaProcess({ ...options, resultLimitBytes: 1_000, logLimitLines: 10, reaper });
      startedProcesses.push(started);
      return started;
    };
    const processes = new SpareProcesses({ least: 1, steadyMs: Date.now, start });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const id of ['one', 'other']) processes.expect(id);
      vi.advanceTimersByTime(100);
      await expect.poll(() => startedProcesses.length).toBe(2);
      await Promise.all(startedProcesses.map(({ ready }) => ready));
      await new Promise((resolve) => setImmediate(resolve));
      // From now on they are looked after every few seconds, until they are too many.
      processes.expect('next');
      vi.advanceTimersByTime(100);
      expect(startedProcesses).toHaveLength(3);
    } finally {
      processes.stop();
      for (const startedProcess of startedProcesses) startedProcess.kill();
      await Promise.all(startedProcesses.map(({ exited }) => exited));
      reaper.stop();
    }
  });

  it('have read the certificates of all authorities before a lambda needs them', async () => {
    const reaper = new ProcessReaper('');
    const recorder = `import tls from 'node:tls';
      const { createSecureContext } = tls;
      tls.createSecureContext = () => console.log('read', Boolean(createSecureContext()));`;
    const started = new LambdaProcess({
      execPath: process.execPath,
      childFile: inject('lambdaChildFile'),
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(recorder)}` },
      fields: SPARE,
      countCall: () => 1,
      resultLimitBytes: 1_000,
      logLimitLines: 10,
      reaper,
    });
    try {
      const line = new Promise((resolve) => {
        started.onLine = (_stream, text) => resolve(text);
      });
      expect(await Promise.race([line, started.exited])).toBe('read true');
    } finally {
      started.kill();
      await started.exited;
      reaper.stop();
    }
  });

  it('are not kept for all that an import brings, but for those of it that are called', async () => {
    service = await TestLambdaService.start();
    const ids = Array.from({ length: 45 }, () => service?.lambda(TELL_PID) ?? '');
    await expect.poll(() => spares()).toBe(1);
    for (const id of ids.slice(0, 3)) resultOf(await service.invoke(id));
    await expect.poll(() => spares()).toBe(Math.min(3, availableParallelism()));
  });

  it('are none where none are wanted', async () => {
    service = await TestLambdaService.start({ limits: { spares: 0 } });
    resultOf(await service.run(TELL_PID));
    service.lambda(TELL_PID);
    expect(spares()).toBe(0);
  });
});
