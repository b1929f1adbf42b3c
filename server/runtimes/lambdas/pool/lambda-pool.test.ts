import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../model/invocation.ts';
import { Gate, WAIT_AT_GATE } from '../../../testing/gate.ts';
import { isAlive } from '../../../testing/is-alive.ts';
import { failureOf, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';

/** Answers how often its process has been called. */
const COUNT = 'let count = 0; exports.run = () => (count += 1)';
const TELL_PID = 'exports.run = () => process.pid';

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const resource of open.splice(0)) await resource.stop();
});

async function start(...args: Parameters<typeof TestLambdaService.start>): Promise<TestLambdaService> {
  const service = await TestLambdaService.start(...args);
  open.push(service);
  return service;
}

async function openGate(): Promise<Gate> {
  const gate = await Gate.open();
  open.push(gate);
  return gate;
}

describe('processes of a lambda (D-142)', () => {
  it('are used again, so that module state survives', async () => {
    const service = await start();
    const id = service.lambda(COUNT);
    for (const count of ['1', '2', '3']) expect(resultOf(await service.invoke(id))).toBe(count);
  });

  it('are fresh for each call of an isolated lambda', async () => {
    const service = await start();
    const id = service.lambda(COUNT, { isolate: true });
    const together = await Promise.all([service.invoke(id), service.invoke(id), service.invoke(id)]);
    expect(together.map(resultOf)).toEqual(['1', '1', '1']);
    expect(resultOf(await service.invoke(id))).toBe('1');
  });

  it('are as many as long calls need, up to the limit; more calls wait, and still more are refused', async () => {
    const [service, gate] = [await start({ limits: { concurrency: 3, queue: 2 } }), await openGate()];
    const id = service.lambda(WAIT_AT_GATE);
    const calls = Array.from({ length: 5 }, () => service.invoke(id, gate.url));
    await gate.waitForClients(3);
    expect(service.lambdas.stats()).toMatchObject({ running: 3, waiting: 2 });
    expect(service.lambdas.refusal(id)).toMatchObject({ failure: 'busy' });
    expect(failureOf(await service.invoke(id, gate.url))).toMatch(/^busy: .* 3 calls run and 2 wait/);
    gate.release('first');
    await gate.waitForClients(2);
    expect(service.lambdas.refusal(id)).toBeUndefined();
    gate.release('second');
    expect((await Promise.all(calls)).map(resultOf)).toEqual(['first', 'first', 'first', 'second', 'second']);
  });

  it('are one when calls come one after the other, and not more than calls at a time', async () => {
    const service = await start();
    const id = service.lambda(TELL_PID);
    const processIds = new Set<string>();
    for (let count = 0; count < 5; count += 1) processIds.add(resultOf(await service.invoke(id)));
    expect(processIds.size).toBe(1);
    const pids = new Set(processIds);
    for (let round = 0; round < 5; round += 1) {
      for (const call of await Promise.all([service.invoke(id), service.invoke(id), service.invoke(id)]))
        pids.add(resultOf(call));
    }
    expect(pids.size).toBeLessThanOrEqual(3);
  });

  it('are two when one call blocks its process until another has run', async () => {
    const service = await start();
    const id = service.lambda(
      `const { existsSync, writeFileSync } = require('fs');
      const cell = new Int32Array(new SharedArrayBuffer(4));
      exports.run = (event) => {
        writeFileSync(process.env.FOLDER + '/' + event, '');
        for (const other of ['a', 'b']) while (!existsSync(process.env.FOLDER + '/' + other)) Atomics.wait(cell, 0, 0, 5);
        return process.pid;
      };`,
      { env: { FOLDER: service.folder } },
    );
    const calls = await Promise.all([service.invoke(id, 'a'), service.invoke(id, 'b')]);
    expect(new Set(calls.map(resultOf)).size).toBe(2);
  });

  it('leave when they have been idle for long', async () => {
    const service = await start({ limits: { idleMs: 50, spares: 0 } });
    const pid = Number(resultOf(await service.run(TELL_PID)));
    await expect.poll(() => service.lambdas.stats().processes).toBe(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('are kept ready where the lambda wants it, and replaced when they are gone', async () => {
    const service = await start({ limits: { idleMs: 20, spares: 0 } });
    const id = service.lambda(TELL_PID, { pre_warm: 2 });
    await expect.poll(() => service.lambdas.stats().processes).toBe(2);
    await expect.poll(async () => (await service.invoke(id)).cold).toBe(false);
    process.kill(Number(resultOf(await service.invoke(id))), 'SIGKILL');
    await expect.poll(async () => service.lambdas.stats().processes).toBe(2);
    expect(resultOf(await service.invoke(id))).toMatch(/^\d+$/);
  });

  it('are kept ready from the start of the emulator on', async () => {
    let id = '';
    const service = await start({ limits: { spares: 0 } }, (world) => {
      id = world.lambda(TELL_PID, { pre_warm: 1 });
    });
    await expect.poll(() => service.lambdas.stats().processes).toBe(1);
    expect(resultOf(await service.invoke(id))).toMatch(/^\d+$/);
  });

  it('are not tried over and over to be kept ready when the code cannot be loaded', async () => {
    const service = await start({ limits: { spares: 0 } });
    const id = service.lambda('throw new Error("no")', { pre_warm: 2 });
    expect(failureOf(await service.invoke(id))).toMatch(/^load: /);
    await expect.poll(() => service.lambdas.stats().processes).toBe(0);
    service.change(id, TELL_PID, { pre_warm: 2 });
    await expect.poll(() => service.lambdas.stats().processes).toBe(2);
  });
});

describe('a change of the definition (D-057, D-114)', () => {
  it('applies from the next invocation on; running ones finish with the old', async () => {
    const [service, gate] = [await start(), await openGate()];
    const id = service.lambda(WAIT_AT_GATE);
    const running = service.invoke(id, gate.url);
    await gate.waitForClients(1);
    service.change(id, 'exports.run = () => "new"');
    expect(resultOf(await service.invoke(id))).toBe('new');
    gate.release('old');
    expect(resultOf(await running)).toBe('old');
    expect(resultOf(await service.invoke(id, gate.url))).toBe('new');
  });

  it('is loaded ahead by a process that waits, where the lambda had one', async () => {
    const service = await start();
    const id = service.lambda(TELL_PID);
    const before = Number(resultOf(await service.invoke(id)));
    const log = () => service.lambdas.log(id, {}).join('\n');
    await expect.poll(() => service.lambdas.stats().spares).toBeGreaterThan(0);
    service.change(id, `console.log("loaded by " + process.pid); ${TELL_PID}`);
    await expect.poll(log).toContain('loaded by');
    await expect.poll(() => isAlive(before)).toBe(false);
    expect(log()).toContain(`loaded by ${resultOf(await service.invoke(id))}`);

    await expect.poll(() => service.lambdas.stats().spares).toBeGreaterThan(0);
    service.change(id, 'throw new Error("half a thought")');
    await expect.poll(log).toContain('no process is ready: index.js failed to load: half a thought');
    expect(failureOf(await service.invoke(id))).toMatch(/^load: .*half a thought/);
  });

  it('applies to variables that are inherited, too', async () => {
    const service = await start();
    service.put('environment', 'root', 'Resource::Environment', { env: { COLOUR: 'red' } });
    const id = service.lambda('exports.run = () => process.env.COLOUR', {}, 'environment');
    expect(resultOf(await service.invoke(id))).toBe('red');
    service.put('environment', 'root', 'Resource::Environment', { env: { COLOUR: 'green' } });
    expect(resultOf(await service.invoke(id))).toBe('green');
  });

  it('that does not concern the processes leaves them alone', async () => {
    const service = await start();
    const id = service.lambda(COUNT);
    await service.invoke(id);
    service.change(id, COUNT, { timeout: 7, headers: { Accept: 'text/html' } });
    const second = await service.invoke(id);
    expect([resultOf(second), second.accept]).toEqual(['2', 'text/html']);
  });
});

describe('the end', () => {
  it('of a lambda ends its calls and its processes', async () => {
    const [service, gate] = [await start({ limits: { concurrency: 1, spares: 0 } }), await openGate()];
    const id = service.lambda(WAIT_AT_GATE);
    const calls = [service.invoke(id, gate.url), service.invoke(id, gate.url)];
    await gate.waitForClients(1);
    service.remove(id);
    for (const call of calls) expect(failureOf(await call)).toMatch(/^deleted: /);
    await expect.poll(() => service.lambdas.stats().processes).toBe(0);
    await expect.poll(() => service.lambdas.log(id, {})).toEqual([]);
  });

  it('of the emulator ends all calls as interrupted and leaves no process (D-168)', async () => {
    const finished: Invocation[] = [];
    const onInvocation = (invocation: Invocation) => finished.push(invocation);
    const [service, gate] = [await start({ limits: { concurrency: 1 }, onInvocation }), await openGate()];
    const [first, second] = [service.lambda(WAIT_AT_GATE), service.lambda(TELL_PID)];
    const pid = Number(resultOf(await service.invoke(second)));
    const calls = [service.invoke(first, gate.url), service.invoke(first, gate.url)];
    await gate.waitForClients(1);
    await service.lambdas.stop();
    for (const call of calls) expect(failureOf(await call)).toMatch(/^interrupted: /);
    expect(isAlive(pid)).toBe(false);
    expect(service.lambdas.stats()).toEqual({ processes: 0, spares: 0, running: 0, waiting: 0 });
    expect(failureOf(await service.invoke(second))).toMatch(/^interrupted: /);
    expect(finished.map(({ outcome }) => outcome.ok)).toEqual([true, false, false, false]);
  });

  it('of the emulator in the midst of a cold start leaves no process either', async () => {
    const service = await start({ limits: { spares: 0 } });
    const call = service.run(TELL_PID);
    await service.lambdas.stop();
    expect(failureOf(await call)).toMatch(/^interrupted: /);
    expect(service.lambdas.stats().processes).toBe(0);
  });
});

it('an emulator that has not been built says so', async () => {
  const missing = /lambda-child.cjs is missing; run 'npm run build'/;
  await expect(start({ childFile: '/nowhere/lambda-child.cjs' })).rejects.toThrow(missing);
});

it('a Node that cannot be started is a failure of the call', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-other-node-'));
  const program = join(folder, 'node');
  await writeFile(program, `#!/bin/sh\nrm "$0"; echo v97.0.0\n`, { mode: 0o755 });
  const service = await start({ hostEnv: { PATH: `${folder}${delimiter}${process.env.PATH}` }, limits: { spares: 0 } });
  const id = service.lambda(TELL_PID, { runtime: 'nodejs97' });
  expect(failureOf(await service.invoke(id))).toMatch(/^crash: no process could be started: .*ENOENT/);
  await rm(folder, { recursive: true });
});

describe('processes of all lambdas together', () => {
  it('are no more than are allowed, spares included; a call beyond waits for its turn, and none fails', async () => {
    const [service, gate] = [await start({ limits: { processes: 3, spares: 1 } }), await openGate()];
    const ids = Array.from({ length: 5 }, () => service.lambda(WAIT_AT_GATE));
    const calls = ids.flatMap((id) => [service.invoke(id, gate.url), service.invoke(id, gate.url)]);
    let most = 0;
    for (let waitingCalls = calls.length; waitingCalls > 0; ) {
      const arrived = Math.min(waitingCalls, 3);
      await gate.waitForClients(arrived);
      most = Math.max(most, service.lambdas.stats().processes);
      gate.release('through');
      waitingCalls -= arrived;
    }
    expect((await Promise.all(calls)).map(resultOf)).toEqual(calls.map(() => 'through'));
    expect(most).toBeLessThanOrEqual(3);
  });

  it('leave for others when they are idle, the one first that has been so for longest', async () => {
    const service = await start({ limits: { processes: 2, spares: 0 } });
    const [first, second, third] = [service.lambda(TELL_PID), service.lambda(TELL_PID), service.lambda(TELL_PID)];
    const pids = [resultOf(await service.invoke(first)), resultOf(await service.invoke(second))].map(Number);
    resultOf(await service.invoke(third));
    await expect.poll(() => isAlive(pids[0] ?? 0)).toBe(false);
    expect(Number(resultOf(await service.invoke(second)))).toBe(pids[1]);
    expect(service.lambdas.stats().processes).toBe(2);
  });

  it('are not kept ready at the cost of calls', async () => {
    const service = await start({ limits: { processes: 2, spares: 1 } });
    service.lambda(TELL_PID, { pre_warm: 5 });
    await expect.poll(() => service.lambdas.stats().processes).toBe(2);
    expect(await service.run(TELL_PID)).toMatchObject({ outcome: { ok: true } });
    expect(service.lambdas.stats().processes).toBeLessThanOrEqual(2);
  });
});

it.each([24, -24])(
  'an invocation and its outbound calls last as long as they did if the clock is set by %d hours',
  async (hours) => {
    let setByMs = 0;
    const service = await start({ nowMs: () => Date.now() + setByMs });
    const gate = await openGate();
    const call = service.invoke(service.lambda(WAIT_AT_GATE), gate.url);
    await gate.waitForClients(1);
    setByMs = hours * 3_600_000;
    gate.release('done');
    const { acceptedAtMs, startedAtMs = 0, finishedAtMs, outbound, logs } = await call;
    const times = [acceptedAtMs, startedAtMs, ...outbound.map(({ startedAtMs: time }) => time), finishedAtMs];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(finishedAtMs - acceptedAtMs).toBeLessThan(3_600_000);
    expect(outbound).toHaveLength(1);
    for (const { durationMs } of outbound) expect(durationMs).toBeLessThan(3_600_000);
    expect(logs).toEqual([]);
  },
);

describe('the files of a lambda', () => {
  const versions = async ({ folder }: TestLambdaService, id: string) =>
    (await readdir(join(folder, 'scratch', 'lambdas', id))).length;

  it('are one copy after many edits, once no process uses the earlier ones', async () => {
    const [service, gate] = [await start(), await openGate()];
    const id = service.lambda(WAIT_AT_GATE);
    const slow = service.invoke(id, gate.url);
    await gate.waitForClients(1);
    for (const result of ['1', '2', '3']) {
      service.change(id, `exports.run = () => ${result}`);
      expect(resultOf(await service.invoke(id))).toBe(result);
    }
    await expect.poll(() => versions(service, id)).toBe(2);
    gate.release('done');
    expect(resultOf(await slow)).toBe('done');
    await expect.poll(() => versions(service, id)).toBe(1);
    service.change(id, WAIT_AT_GATE);
    const again = service.invoke(id, gate.url);
    await gate.waitForClients(1);
    gate.release('again');
    expect(resultOf(await again)).toBe('again');
  });

  it('are not copied by a change of variables', async () => {
    const service = await start();
    const code = 'exports.run = () => process.env.LEVEL';
    const id = service.lambda(code);
    for (const LEVEL of ['1', '2', '3']) {
      service.change(id, code, { env: { LEVEL } });
      expect(resultOf(await service.invoke(id))).toBe(LEVEL);
      expect(await versions(service, id)).toBe(1);
    }
  });
});
