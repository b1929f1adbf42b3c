import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gate } from '../../testing/gate.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/*
 * Calls may lie ready at a process whose calls are short (PoolWorker): nothing of that may be seen but the speed.
 */

/** Notes each event in a file as soon as it begins; then does as the event says. */
const OBEY = `
  const fs = require('fs');
  let inHand = 0;
  exports.run = async (event) => {
    const { id, file, then } = JSON.parse(event);
    fs.appendFileSync(file, id + '\\n');
    if (++inHand > 1) throw new Error('two calls at a time');
    try {
      if (then === 'die') process.kill(process.pid, 'SIGKILL');
      if (then === 'exit later') setImmediate(() => process.exit(3));
      if (then === 'print') { console.log('line of ' + id); console.error('error of ' + id); }
      if (then?.url) return await (await fetch(then.url)).text();
      return id;
    } finally {
      inHand -= 1;
    }
  };`;

let service: TestLambdaService;
beforeAll(async () => {
  service = await TestLambdaService.start({ limits: { concurrency: 2, queue: 1_000 } });
});
afterAll(async () => {
  await service?.stop();
});

/** A lambda whose calls are known to be short and to write nothing. */
async function warmLambda() {
  const id = service.lambda(OBEY);
  const file = path.join(service.folder, `${id}.begun`);
  let count = 0;
  const call = (then?: unknown) => {
    count += 1;
    return service.invoke(id, JSON.stringify({ id: `call-${count}`, file, then }));
  };
  for (let warm = 0; warm < 60; warm += 1) await call();
  const readBegunIds = () => readFileSync(file, 'utf8').trim().split('\n');
  return { call, begun: readBegunIds };
}

describe('calls that lie ready at a process', () => {
  it('are answered each with its own result, one after the other', async () => {
    const { call, begun: readBegunIds } = await warmLambda();
    const answers = await Promise.all(Array.from({ length: 300 }, () => call()));
    expect(answers.map(resultOf)).toEqual(Array.from({ length: 300 }, (_, at) => `call-${at + 61}`));
    expect(new Set(readBegunIds()).size).toBe(360);
    for (const { startedAtMs = 0, acceptedAtMs, finishedAtMs } of answers) {
      expect(startedAtMs).toBeGreaterThanOrEqual(acceptedAtMs);
      expect(finishedAtMs).toBeGreaterThanOrEqual(startedAtMs);
    }
  });

  it('are taken by another process when theirs dies, and none is run twice', async () => {
    const { call, begun: readBegunIds } = await warmLambda();
    const requests = Array.from({ length: 300 }, (_, at) =>
      at % 40 === 20 ? 'die' : at % 40 === 35 ? 'exit later' : undefined,
    );
    const ended = await Promise.all(requests.map((then) => call(then)));
    const counts = new Map<string, number>();
    for (const id of readBegunIds()) counts.set(id, (counts.get(id) ?? 0) + 1);
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    for (const [at, { outcome }] of ended.entries()) {
      const id = `call-${at + 61}`;
      expect(counts.get(id), id).toBe(1);
      if (requests[at] === 'die') expect(outcome).toMatchObject({ ok: false, failure: 'crash' });
      // It answered before it let its process exit.
      else if (requests[at] === 'exit later') expect(resultOf(ended[at] as never), id).toBe(id);
      else if (outcome.ok) expect(resultOf(ended[at] as never)).toBe(id);
      // The call before this one ended the process, so the call must not run again.
      else expect(outcome.failure).toBe('crash');
    }
    const innocent = ended.filter(({ outcome }, at) => !outcome.ok && requests[at] === undefined);
    expect(innocent.length).toBeLessThanOrEqual(requests.filter((then) => then === 'exit later').length);
  });

  it('are taken by another process, too, when it is killed from outside', async () => {
    const id = service.lambda(`
      const fs = require('fs');
      exports.run = (event) => {
        const [file, number] = event.split(' ');
        fs.appendFileSync(file, number + ' ');
        return process.pid;
      };`);
    const file = path.join(service.folder, 'killed.begun');
    for (let warm = 0; warm < 60; warm += 1) await service.invoke(id, `${file} warm-${warm}`);
    const all = Array.from({ length: 400 }, (_, at) => service.invoke(id, `${file} n${at}`));
    for (const [at, call] of all.entries()) {
      const { outcome } = await call;
      if (at % 50 === 10 && outcome.ok && outcome.value.kind !== 'nothing') {
        const pid = Number(Buffer.from(outcome.value.bytes).toString());
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has gone already.
        }
      }
    }
    const begunIds = readFileSync(file, 'utf8')
      .trim()
      .split(' ')
      .filter((name) => name.startsWith('n'));
    expect(begunIds.length).toBe(new Set(begunIds).size);
    for (const [at, call] of all.entries()) {
      // Calls that had not started ran in another process. A call that had started can be lost before its first step.
      const { outcome } = await call;
      if (outcome.ok) expect(begunIds).toContain(`n${at}`);
      else expect(outcome.failure).toBe('crash');
    }
  });

  it('do not wait behind one that takes long', async () => {
    const { call } = await warmLambda();
    const gate = await Gate.open();
    try {
      const slow = call({ url: gate.url });
      const otherCalls = Array.from({ length: 20 }, () => call());
      expect((await Promise.all(otherCalls)).every(({ outcome }) => outcome.ok)).toBe(true);
      await gate.waitForClients(1);
      gate.release('through');
      expect(resultOf(await slow)).toBe('through');
    } finally {
      await gate.stop();
    }
  });

  it('get no line of another call', async () => {
    const { call } = await warmLambda();
    const printed = await Promise.all(Array.from({ length: 120 }, (_, at) => call(at % 7 === 3 ? 'print' : undefined)));
    for (const [at, { logs }] of printed.entries()) {
      const id = `call-${at + 61}`;
      const ownLines = [`error of ${id}`, `line of ${id}`];
      expect(logs.map(({ text }) => text).sort(), id).toEqual(at % 7 === 3 ? ownLines : []);
    }
  });
});
