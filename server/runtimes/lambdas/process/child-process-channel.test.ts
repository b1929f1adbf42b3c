import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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

describe('a change of the rules', () => {
  const rules = [{ id: 'one', enabled: true, host: '*', action: 'block' as const }];

  /** A lambda's process with one connected subprocess, which has not confirmed any rules. */
  async function connectSubprocess(confirmationLimitMs: number) {
    let reports = 0;
    const channel = new ChildProcessChannel(() => 1, confirmationLimitMs);
    await channel.open();
    const registration = channel.register(() => {
      reports += 1;
    });
    onTestFinished(() => {
      registration.close();
      channel.close();
    });
    const connectNext = async () => {
      const { port = 0, token } = registration.address ?? {};
      const received: unknown[] = [];
      const frames = new FrameReader(0);
      const before = reports;
      const socket = speak(port, { token }, update);
      socket.on('data', (chunk: Buffer) => received.push(...[...frames.push(chunk)].map(({ head }) => head)));
      await expect.poll(() => reports).toBe(before + 1);
      return { received, confirm: () => writeFrame(socket, FrameType.rules, {}), end: () => socket.destroy() };
    };
    return { registration, connectNext, first: await connectNext() };
  }

  it('applies when every subprocess has confirmed it; later ones receive it, too', async () => {
    const { registration, connectNext, first } = await connectSubprocess(10 * 60_000);
    let isApplied = false;
    const changed = registration.changeRules(rules).then(() => {
      isApplied = true;
    });
    await expect.poll(() => first.received).toEqual([{ rules }]);
    expect(isApplied).toBe(false);
    first.confirm();
    await changed;
    const later = await connectNext();
    await expect.poll(() => later.received).toEqual([{ rules }]);
  });

  it('does not wait for a subprocess that ends', async () => {
    const { registration, first } = await connectSubprocess(10 * 60_000);
    const changed = registration.changeRules(rules);
    first.end();
    await changed;
  });

  it('does not wait for a stopped subprocess longer than its limit', async () => {
    const { registration } = await connectSubprocess(1);
    await registration.changeRules(rules);
  });
});
