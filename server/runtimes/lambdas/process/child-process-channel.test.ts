import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ChildProcessChannel } from './child-process-channel.ts';
import { FrameReader, writeFrame } from './frames.ts';
import type { OutboundNews } from './process-messages.ts';
import { FrameType } from './protocol.ts';

const proxy = new ChildProcessChannel(() => 1);
beforeAll(() => proxy.open());
afterAll(() => proxy.close());

const update = { id: 1, method: 'GET', url: 'http://a/' };

function speak(port: number, ...heads: object[]) {
  const socket = connect(port, '127.0.0.1').resume();
  socket.on('error', () => {});
  for (const head of heads) writeFrame(socket, FrameType.outbound, head);
  return socket;
}

it('who knows the token of a process is heard for it, and for no other', async () => {
  const [updates, otherUpdates]: [OutboundNews[], OutboundNews[]] = [[], []];
  const registration = proxy.register((_from, reported) => void updates.push(reported));
  proxy.register((_from, reported) => void otherUpdates.push(reported));
  const { port = 0, token } = registration.address ?? {};
  const socket = speak(port, { token }, update);
  await expect.poll(() => updates).toEqual([update]);
  expect(otherUpdates).toEqual([]);
  registration.close();
  await once(socket, 'close');
});

it.each([
  ['another token', { token: randomUUID() }],
  ['no token', update],
])('who has %s is sent away', async (_what, head) => {
  const updates: OutboundNews[] = [];
  const { address } = proxy.register((_from, reported) => void updates.push(reported));
  await once(speak(address?.port ?? 0, head, update), 'close');
  expect(updates).toEqual([]);
});

it('an unknown event is rejected', async () => {
  const updates: OutboundNews[] = [];
  const { port = 0, token } = proxy.register((_from, reported) => void updates.push(reported)).address ?? {};
  await once(speak(port, { token }, { id: 'x' }), 'close');
  const socket = connect(port, '127.0.0.1').resume();
  socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'close');
  expect(updates).toEqual([]);
});

it('rules have changed when those who are there have heard of them; those that come later receive them, too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let callCount = 0;
  const registration = proxy.register(() => {
    callCount += 1;
  });
  const { port = 0, token } = registration.address ?? {};
  const listen = () => {
    const reported: unknown[] = [];
    const frames = new FrameReader(0);
    const socket = speak(port, { token }, update);
    socket.on('data', (chunk: Buffer) => reported.push(...[...frames.push(chunk)].map(({ head }) => head)));
    return { reported, hear: () => writeFrame(socket, FrameType.rules, {}), end: () => socket.destroy() };
  };
  try {
    const early = listen();
    await expect.poll(() => callCount).toBe(1);
    const rules = [{ id: 'one', enabled: true, host: '*', action: 'block' as const }];
    let apply = false;
    const changed = registration.changeRules(rules).then(() => {
      apply = true;
    });
    await expect.poll(() => early.reported).toEqual([{ rules }]);
    expect(apply).toBe(false);
    early.hear();
    await changed;

    const late = listen();
    await expect.poll(() => late.reported).toEqual([{ rules }]);
    const changedAgain = registration.changeRules([]);
    late.end();
    // It is stopped.
    vi.advanceTimersByTime(1_000);
    await changedAgain;
  } finally {
    vi.useRealTimers();
    registration.close();
  }
});
