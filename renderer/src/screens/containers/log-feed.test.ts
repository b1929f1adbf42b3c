import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Source } from '../../api/live-stream.ts';
import { LogFeed } from './log-feed.ts';

class FakeSource implements Source {
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  isClosed = false;
  #listener: (event: { data: string; lastEventId: string }) => void = () => {};

  addEventListener(_name: string, listener: (event: { data: string; lastEventId: string }) => void): void {
    this.#listener = listener;
  }

  close(): void {
    this.isClosed = true;
  }

  tell(id: string, ...texts: string[]): void {
    const lines = texts.map((text) => ({ at: '2026-01-01T00:00:00.000Z', stream: 'stdout', text }));
    this.#listener({ data: JSON.stringify({ lines, hasGap: false }), lastEventId: id });
  }

  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
}

function feedOf() {
  const opened: { after: string | undefined; source: FakeSource }[] = [];
  const feed = new LogFeed({
    open: (after) => {
      const source = new FakeSource();
      opened.push({ after, source });
      return source;
    },
    whyRefused: async () => 'no engine answers',
  });
  feed.start();
  const newest = () => {
    const one = opened.at(-1);
    if (!one) throw new Error('nothing was opened');
    return one;
  };
  return { feed, newest, texts: () => feed.state.value.lines.map(({ text }) => text) };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('the log of a container that one looks at', () => {
  it('grows by what comes, and keeps the newest ten thousand lines', () => {
    const { feed, newest, texts } = feedOf();
    newest().source.tell('1', 'a', 'b');
    newest().source.tell('2', 'c');
    expect(texts()).toEqual(['a', 'b', 'c']);
    expect(feed.state.value.connection).toBe('live');
    newest().source.tell('3', ...Array.from({ length: 10_000 }, (_, index) => String(index)));
    expect(texts()).toHaveLength(10_000);
    expect(texts()[0]).toBe('0');
    expect(new Set(feed.state.value.lines.map(({ key }) => key)).size).toBe(10_000);
  });

  it('says why it is away when it was refused, and goes on where it was', async () => {
    const { feed, newest, texts } = feedOf();
    newest().source.tell('7-1', 'a');
    newest().source.fail(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(feed.state.value).toMatchObject({ connection: 'away', reason: 'no engine answers' });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(newest().after).toBe('7-1');
    newest().source.onopen?.();
    newest().source.tell('8-1', 'b');
    expect(feed.state.value).toMatchObject({ connection: 'live', reason: undefined });
    expect(texts()).toEqual(['a', 'b']);
  });

  it('leaves a broken line to the browser, and ends when nobody looks', async () => {
    const { feed, newest } = feedOf();
    const { source } = newest();
    source.fail(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(newest().source).toBe(source);
    source.onopen?.();
    expect(feed.state.value.connection).toBe('live');
    feed.stop();
    expect(source.isClosed).toBe(true);
    source.fail(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(newest().source).toBe(source);
  });
});
