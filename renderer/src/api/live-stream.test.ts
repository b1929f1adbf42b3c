import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamListener } from './event-stream.ts';
import { LiveStream } from './live-stream.ts';

/** A stream that the test speaks through. */
function watch(isServerThere = true) {
  const listeners: StreamListener[] = [];
  const pictures: string[][] = [];
  let frames: (() => void)[] = [];
  let resets = 0;
  let opened = 0;
  const stream = new LiveStream({
    listen: (listener) => {
      listeners.push(listener);
      return () => {};
    },
    schedule: (callback) => frames.push(callback),
    onTopics: (topics) => pictures.push([...topics]),
    onReset: () => {
      resets += 1;
    },
    onOpen: () => {
      opened += 1;
    },
    isServerReachable: async () => isServerThere,
  });
  const draw = () => {
    const due = frames;
    frames = [];
    for (const frame of due) frame();
  };
  const emit = (name: string) => listeners.at(-1)?.onEvent({ name, data: '[]' });
  const end = async (isRefused = true) => {
    listeners.at(-1)?.onEnd(isRefused);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { stream, say: emit, end, listeners, pictures, draw, resetCount: () => resets, openCount: () => opened };
}

describe('the stream of events', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('notifies once a frame', () => {
    const { stream, say: emit, pictures, draw } = watch();
    stream.start();
    for (const name of ['invocations', 'leads', 'invocations']) emit(name);
    expect(pictures).toEqual([]);
    draw();
    draw();
    expect(pictures).toEqual([['invocations', 'leads']]);
    stream.stop();
  });

  it('keeps events while it is paused, counts them, and delivers them on resuming', () => {
    const { stream, say: emit, pictures, draw } = watch();
    stream.start();
    stream.togglePause();
    for (let count = 0; count < 3; count += 1) emit('leads');
    draw();
    expect(pictures).toEqual([]);
    expect(stream.heldCount.value).toBe(3);
    stream.togglePause();
    draw();
    expect(pictures).toEqual([['leads']]);
    expect(stream.heldCount.value).toBe(0);
    stream.stop();
  });

  it('reports each time that the server is available again', async () => {
    const { stream, end, listeners, openCount, resetCount } = watch(false);
    stream.start();
    expect(openCount()).toBe(0);
    listeners.at(-1)?.onOpen();
    await end();
    expect(stream.connection.value).toBe('lost');
    listeners.at(-1)?.onOpen();
    expect([stream.connection.value, openCount(), resetCount()]).toEqual(['live', 2, 0]);
    stream.stop();
  });

  it('counts the events of a second', async () => {
    const { stream, say: emit } = watch();
    stream.start();
    for (let count = 0; count < 20; count += 1) emit('leads');
    await vi.advanceTimersByTimeAsync(1000);
    expect(stream.eventsPerSecond.value).toBe(4);
    await vi.advanceTimersByTimeAsync(5000);
    expect(stream.eventsPerSecond.value).toBe(0);
    stream.stop();
  });

  it('has nothing read again when it learns its position', () => {
    const { stream, say: emit, resetCount } = watch();
    stream.start();
    emit('hello');
    expect(resetCount()).toBe(0);
    expect(stream.connection.value).toBe('live');
    stream.stop();
  });

  it('has everything read again when it was refused before it learned its position', async () => {
    const { stream, say: emit, end, resetCount } = watch();
    stream.start();
    await end();
    expect(resetCount()).toBe(1); // while there was no stream
    emit('hello');
    expect(resetCount()).toBe(2);
    stream.stop();
  });

  it('has everything read again after a time without listeners', () => {
    const { stream, say: emit, resetCount } = watch();
    stream.start();
    emit('hello');
    stream.stop();
    stream.start();
    emit('hello');
    expect(resetCount()).toBe(1);
    stream.stop();
  });

  it('is not lost when the line breaks and the server still responds', async () => {
    const { stream, end, listeners, resetCount } = watch();
    stream.start();
    listeners[0]?.onOpen();
    await end(false);
    expect([stream.connection.value, resetCount()]).toEqual(['connecting', 0]);
    stream.stop();
  });

  it('is lost while the line is broken, and live again with the next event', async () => {
    const { stream, say: emit, end, listeners } = watch(false);
    stream.start();
    listeners[0]?.onOpen();
    await end();
    expect(stream.connection.value).toBe('lost');
    emit('leads');
    expect(stream.connection.value).toBe('live');
    stream.stop();
  });

  it('reloads everything at intervals when the server offers no stream', async () => {
    const { stream, end, resetCount } = watch();
    stream.start();
    await end();
    expect(stream.connection.value).toBe('polling');
    expect(resetCount()).toBe(1);
    await end();
    expect(resetCount()).toBe(2);
    stream.stop();
  });

  it('is lost when there is neither a stream nor a server', async () => {
    const { stream, end, resetCount } = watch(false);
    stream.start();
    await end();
    expect(stream.connection.value).toBe('lost');
    expect(resetCount()).toBe(0);
    stream.stop();
  });

  it('reloads everything when the server no longer has the missed events', () => {
    const { stream, say: emit, pictures, draw, resetCount } = watch();
    stream.start();
    emit('leads');
    emit('reset');
    draw();
    expect(resetCount()).toBe(1);
    expect(pictures).toEqual([]);
    stream.stop();
  });
});
