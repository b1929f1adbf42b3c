import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { OutboundCall } from '../../model/invocation.ts';
import { MemoryFiles } from '../../storage/files/files.ts';
import { RecordLogs } from '../../storage/records/record-logs.ts';
import { invocation, TestGateway, text } from '../../testing/gateway.ts';
import { figuresOfInvocation, mayBeWarnedKind, outboundCallsOfKind } from './recorded-invocation.ts';
import { Recorder } from './recorder.ts';

/* What recording costs each call is counted, because times depend on the machine. */

const BOUNDS = { memoryBytes: 4 << 20, maxItems: 10_000, maxBytes: 64 << 20, maxDays: 7, onWarning: () => {} };
const CALLS = 200;
/** Both records of a GET, with its headers and its body. */
const MAX_BYTES = 1_750;

it('recording warm calls serializes nothing with JSON.stringify, stores few bytes and writes to each file once', async () => {
  const gateway = await new TestGateway().start();
  const files = new MemoryFiles();
  const logs = new RecordLogs({ ...BOUNDS, files, nowMs: () => gateway.nowMs });
  const recorder = new Recorder(logs);
  await logs.open();
  const result = text('SUCCESS');
  const lambda = gateway.lambda(() => result, { public: true });
  gateway.endpoint(gateway.api('web'), lambda, { resource: '/greeting' });
  const additions: (() => void)[] = [];
  while (additions.length <= CALLS) {
    const exchangeEnded = gateway.nextExchange();
    await gateway.send('GET', '/web/greeting');
    const [exchange, sentCall, firstCall] = [await exchangeEnded, gateway.calls.at(-1), gateway.calls[0]];
    if (!sentCall || !firstCall) throw new Error('the lambda was not called');
    // Calls of one connection have the same context.
    const call = { ...sentCall, context: firstCall.context };
    additions.push(() => {
      recorder.addInvocation(invocation(lambda.id, call.executionId, result), call);
      recorder.addExchange(exchange);
    });
  }
  await gateway.stop();
  const [addFirst, ...addOthers] = additions;
  addFirst?.();
  const openAppend = vi.spyOn(files, 'openAppend');
  await logs.save();
  const handles = await Promise.all(openAppend.mock.results.map(({ value }) => value));
  const appends = handles.map((handle) => vi.spyOn(handle, 'append'));
  const firstBytes = logs.fileBytes;

  const stringify = vi.spyOn(JSON, 'stringify');
  for (const add of addOthers) add();
  await logs.save();
  expect(stringify).not.toHaveBeenCalled();
  expect(appends.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  expect((logs.fileBytes - firstBytes) / CALLS).toBeLessThan(MAX_BYTES);
  expect([recorder.invocations.newest, recorder.exchanges.newest]).toEqual([CALLS + 1, CALLS + 1]);
  await logs.stop();
});

it('a record with a long body does not wait for others, so that few bytes wait', async () => {
  const logs = new RecordLogs({ ...BOUNDS, nowMs: Date.now });
  await logs.open();
  const added: string[] = [];
  logs.addLater(() => added.push('short'), 1_000);
  expect(added).toEqual([]);
  logs.addLater(() => added.push('long'), 100_000);
  expect(added).toEqual(['short', 'long']);
});

it('many bytes are saved at once, before memory has no space for them', async () => {
  const logs = new RecordLogs({ ...BOUNDS, files: new MemoryFiles(), nowMs: Date.now });
  await logs.open();
  const save = vi.spyOn(logs, 'save');
  const add = () => logs.addLater(() => logs.bodies.append(new Uint8Array(1 << 20)), 1 << 20);
  add();
  expect(save).not.toHaveBeenCalled();
  for (let count = 0; count < 3; count += 1) add();
  expect(save).toHaveBeenCalledOnce();
  await logs.stop();
});

it('the index tells which invocations may have an outbound call with a warning; those of earlier versions may', async () => {
  const gateway = await new TestGateway().start();
  const lambda = gateway.lambda(() => text(''), { public: true });
  gateway.endpoint(gateway.api('web'), lambda, { resource: '/form' });
  await gateway.send('GET', '/web/form');
  await gateway.stop();
  const [call] = gateway.calls;
  if (!call) throw new Error('the lambda was not called');
  const logs = new RecordLogs({ ...BOUNDS, nowMs: () => gateway.nowMs });
  const recorder = new Recorder(logs);
  await logs.open();
  const outboundCall = { method: 'POST', url: 'https://crm.example.com/', startedAtMs: 1, durationMs: 2, status: 200 };
  const add = (outbound: OutboundCall[]) =>
    recorder.addInvocation({ ...invocation(lambda.id, randomUUID(), text('')), outbound }, call);
  add([]);
  add([outboundCall]);
  add([outboundCall, { ...outboundCall, warning: 'this form has no oid' }]);
  const kinds = Array.from(recorder.invocations.marksForward(), ({ kind }) => kind);
  expect(kinds.map((kind) => [outboundCallsOfKind(kind), mayBeWarnedKind(kind)])).toEqual([
    [0, false],
    [1, false],
    [2, true],
  ]);
  const { warnings, ...earlier } = recorder.invocations.at(2)?.item ?? expect.fail('the record is missing');
  expect(warnings).toBe(0);
  expect(mayBeWarnedKind(figuresOfInvocation(earlier).kind)).toBe(true);
});
