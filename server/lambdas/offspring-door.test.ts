import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { FrameReader, writeFrame } from './frames.ts';
import { OffspringDoor } from './offspring-door.ts';
import type { OutboundNews } from './process-messages.ts';
import { FrameType } from './protocol.ts';

const door = new OffspringDoor();
beforeAll(() => door.open());
afterAll(() => door.close());

const news = { id: 1, method: 'GET', url: 'http://a/' };

function speak(port: number, ...heads: object[]) {
  const socket = connect(port, '127.0.0.1').resume();
  socket.on('error', () => {});
  for (const head of heads) writeFrame(socket, FrameType.outbound, head);
  return socket;
}

it('who knows the token of a process is heard for it, and for no other', async () => {
  const [heard, others]: [OutboundNews[], OutboundNews[]] = [[], []];
  const place = door.place((_from, told) => void heard.push(told));
  door.place((_from, told) => void others.push(told));
  const { port = 0, token } = place.address ?? {};
  const socket = speak(port, { token }, news);
  await expect.poll(() => heard).toEqual([news]);
  expect(others).toEqual([]);
  place.close();
  await once(socket, 'close');
});

it.each([
  ['another token', { token: randomUUID() }],
  ['no token', news],
])('who has %s is sent away', async (_what, head) => {
  const heard: OutboundNews[] = [];
  const { address } = door.place((_from, told) => void heard.push(told));
  await once(speak(address?.port ?? 0, head, news), 'close');
  expect(heard).toEqual([]);
});

it('who writes what is no news is sent away', async () => {
  const heard: OutboundNews[] = [];
  const { port = 0, token } = door.place((_from, told) => void heard.push(told)).address ?? {};
  await once(speak(port, { token }, { id: 'x' }), 'close');
  const socket = connect(port, '127.0.0.1').resume();
  socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'close');
  expect(heard).toEqual([]);
});

it('rules have changed when those who are there have heard of them; who comes later is told, too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let known = 0;
  const place = door.place(() => {
    known += 1;
  });
  const { port = 0, token } = place.address ?? {};
  const listen = () => {
    const told: unknown[] = [];
    const frames = new FrameReader(0);
    const socket = speak(port, { token }, news);
    socket.on('data', (chunk: Buffer) => told.push(...[...frames.push(chunk)].map(({ head }) => head)));
    return { told, hear: () => writeFrame(socket, FrameType.rules, {}), end: () => socket.destroy() };
  };
  try {
    const early = listen();
    await expect.poll(() => known).toBe(1);
    const rules = [{ id: 'one', enabled: true, host: '*', action: 'block' as const }];
    let holds = false;
    const changed = place.changeRules(rules).then(() => {
      holds = true;
    });
    await expect.poll(() => early.told).toEqual([{ rules }]);
    expect(holds).toBe(false);
    early.hear();
    await changed;

    const late = listen();
    await expect.poll(() => late.told).toEqual([{ rules }]);
    const changedAgain = place.changeRules([]);
    late.end();
    // It stands still.
    vi.advanceTimersByTime(1_000);
    await changedAgain;
  } finally {
    vi.useRealTimers();
    place.close();
  }
});
