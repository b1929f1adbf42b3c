import { describe, expect, it } from 'vitest';
import type { StreamListener } from '../../api/event-stream.ts';
import { LogFeed } from './log-feed.ts';

function feedOf() {
  const listeners: StreamListener[] = [];
  let isEnded = false;
  const feed = new LogFeed({
    listen: (listener) => {
      listeners.push(listener);
      return () => {
        isEnded = true;
      };
    },
    findRefusal: async () => 'no engine responds',
  });
  feed.start();
  const send = (...texts: string[]) => {
    const lines = texts.map((text) => ({ at: '2026-01-01T00:00:00.000Z', stream: 'stdout', text }));
    listeners[0]?.onEvent({ name: 'lines', data: JSON.stringify({ lines, hasGap: false }) });
  };
  const texts = () => feed.state.value.lines.map(({ text }) => text);
  return { feed, stream: listeners[0], tell: send, texts, isEnded: () => isEnded };
}

describe('the log of a container while it is shown', () => {
  it('grows with new lines, and keeps the newest ten thousand', () => {
    const { feed, tell: send, texts } = feedOf();
    send('a', 'b');
    send('c');
    expect(texts()).toEqual(['a', 'b', 'c']);
    expect(feed.state.value.connection).toBe('live');
    send(...Array.from({ length: 10_000 }, (_, index) => String(index)));
    expect(texts()).toHaveLength(10_000);
    expect(texts()[0]).toBe('0');
    expect(new Set(feed.state.value.lines.map(({ key }) => key)).size).toBe(10_000);
  });

  it('says why it is away when it was refused, until it is let in again', async () => {
    const { feed, stream, tell: send, texts } = feedOf();
    send('a');
    stream?.onEnd(true);
    await Promise.resolve();
    expect(feed.state.value).toMatchObject({ connection: 'away', reason: 'no engine responds' });
    stream?.onOpen();
    send('b');
    expect(feed.state.value).toMatchObject({ connection: 'live', reason: undefined });
    expect(texts()).toEqual(['a', 'b']);
  });

  it('is away while the line is broken, and ends when it is not shown', () => {
    const { feed, stream, isEnded } = feedOf();
    stream?.onEnd(false);
    expect(feed.state.value).toMatchObject({ connection: 'away', reason: undefined });
    stream?.onOpen();
    expect(feed.state.value.connection).toBe('live');
    feed.stop();
    expect(isEnded()).toBe(true);
  });
});
