import { expect, it } from 'vitest';
import { MemoryFiles } from '../../storage/files/files.ts';
import { RecordLogs } from '../../storage/records/record-logs.ts';
import { invocation, TestGateway, text } from '../../testing/gateway.ts';
import { keepShared } from './recorded-bodies.ts';
import { Recorder } from './recorder.ts';

const BOUNDS = { memoryBytes: 4 << 20, maxItems: 100, maxBytes: 64 << 20, maxDays: 7, onWarning: () => {} };
const SIZE_BYTES = 50_000;

it.each(['invocation', 'request'])('an %s that ends first shares its bodies with the other record', async (first) => {
  const logs = new RecordLogs({ ...BOUNDS, nowMs: Date.now });
  const recorder = new Recorder(logs);
  await logs.open();
  const gateway = await new TestGateway().start();
  const result = text('y'.repeat(SIZE_BYTES));
  const lambda = gateway.lambda(() => result, { public: true });
  gateway.endpoint(gateway.api('web'), lambda, { resource: '/echo' });
  const traffic = gateway.nextExchange();
  await gateway.send('POST', '/web/echo', { body: 'x'.repeat(SIZE_BYTES) });
  const exchange = await traffic;
  const [call] = gateway.calls;
  if (!call) throw new Error('the lambda was not called');
  const add = [
    () => recorder.addInvocation(invocation(lambda.id, call.executionId, result), call),
    () => recorder.addExchange(exchange),
  ];
  for (const record of first === 'request' ? add.reverse() : add) record();
  const stored = recorder.invocations.find(call.executionId)?.item;
  const recordedRequest = recorder.exchanges.find(call.executionId)?.item;
  expect([stored?.event, stored?.result]).toEqual([recordedRequest?.request, recordedRequest?.response]);
  expect(logs.bodies.end).toBeLessThan(3 * SIZE_BYTES);
  await gateway.stop();
});

it('a body that was removed from memory before it was saved is stored again', async () => {
  const logs = new RecordLogs({ ...BOUNDS, files: new MemoryFiles(), nowMs: Date.now });
  await logs.open();
  logs.bodies.append(Buffer.from('saved'));
  await logs.save();
  const [body, shared] = [{ bytes: Buffer.from('body'), sizeBytes: 4 }, {}];
  keepShared(logs.bodies, body, shared, 'request');
  logs.bodies.append(new Uint8Array(2 * BOUNDS.memoryBytes));
  const [at, keptBytes] = keepShared(logs.bodies, body, shared, 'request');
  expect(logs.bodies.read(at, keptBytes)?.toString()).toBe('body');
  await logs.stop();
});

it('an event is replayable only while it can be read, also if newer ones were saved', async () => {
  const logs = new RecordLogs({ ...BOUNDS, files: new MemoryFiles(), nowMs: Date.now });
  const recorder = new Recorder(logs);
  await logs.open();
  const gateway = await new TestGateway().start();
  const lambda = gateway.lambda(() => text(''), { public: true });
  gateway.endpoint(gateway.api('web'), lambda, { resource: '/echo' });
  await gateway.send('POST', '/web/echo', { body: 'x'.repeat(SIZE_BYTES) });
  await gateway.stop();
  const [call] = gateway.calls;
  if (!call) throw new Error('the lambda was not called');
  const add = (): boolean[] => {
    recorder.addInvocation(invocation(lambda.id, call.executionId, text('')), { ...call, bodies: {} });
    const { items } = recorder.invocations.page({ limit: 9, maxLooked: 9, isWanted: () => true });
    return items.reverse().map(({ item }) => recorder.isReplayable(item));
  };
  add();
  await logs.save();
  expect(add()).toEqual([true, true]);
  logs.bodies.append(new Uint8Array(2 * BOUNDS.memoryBytes));
  expect(add()).toEqual([true, false, true]);
  await logs.stop();
});
