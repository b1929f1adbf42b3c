import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LiveMessage, LiveStream, type Source } from './live-stream.ts';

/** A stream that the test speaks through. */
class Line implements Source {
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly #listeners = new Map<string, (event: { data: string; lastEventId: string }) => void>();
  readonly after: string | undefined;

  constructor(after: string | undefined) {
    this.after = after;
  }

  addEventListener(name: string, listener: (event: { data: string; lastEventId: string }) => void): void {
    this.#listeners.set(name, listener);
  }

  close(): void {
    this.readyState = 2;
  }

  say(name: string, id: number): void {
    this.#listeners.get(name)?.({ data: JSON.stringify({ number: id }), lastEventId: String(id) });
  }

  breakDown(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
}

function watch(isServerThere = true) {
  const lines: Line[] = [];
  const pictures: LiveMessage[][] = [];
  let frames: (() => void)[] = [];
  let resets = 0;
  const stream = new LiveStream({
    open: (after) => {
      const line = new Line(after);
      lines.push(line);
      return line;
    },
    names: ['invocations', 'leads'],
    schedule: (callback) => frames.push(callback),
    nowMs: () => Date.now(),
    onEvents: (events) => pictures.push([...events]),
    onReset: () => {
      resets += 1;
    },
    isServerThere: async () => isServerThere,
  });
  const draw = () => {
    const due = frames;
    frames = [];
    for (const frame of due) frame();
  };
  const line = () => lines.at(-1) ?? new Line('there is none');
  return { stream, line, lines, pictures, draw, resetCount: () => resets };
}

describe('the stream of events', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('hands over the events of one picture together, oldest first', () => {
    const { stream, line, pictures, draw } = watch();
    stream.start();
    line().say('invocations', 1);
    line().say('leads', 2);
    expect(pictures).toEqual([]);
    draw();
    expect(pictures.map((events) => events.map(({ name, id }) => `${name} ${id}`))).toEqual([
      ['invocations 1', 'leads 2'],
    ]);
    stream.stop();
  });

  it('holds events while it is paused, counts them, and lets them go on resuming', () => {
    const { stream, line, pictures, draw } = watch();
    stream.start();
    stream.pause();
    for (let id = 1; id <= 3; id += 1) line().say('leads', id);
    draw();
    expect(pictures).toEqual([]);
    expect(stream.heldCount.value).toBe(3);
    stream.resume();
    draw();
    expect(pictures.flat().map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(stream.heldCount.value).toBe(0);
    stream.stop();
  });

  it('has everything read anew when more was held than it keeps', () => {
    const { stream, line, pictures, draw, resetCount } = watch();
    stream.start();
    stream.pause();
    for (let id = 1; id <= 5001; id += 1) line().say('leads', id);
    stream.resume();
    draw();
    expect(resetCount()).toBe(1);
    expect(pictures).toEqual([]);
    stream.stop();
  });

  it('goes on after the last event that arrived when the server refused the stream for a while', async () => {
    const { stream, line, lines } = watch();
    stream.start();
    line().say('leads', 7);
    line().breakDown(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(lines.map(({ after }) => after)).toEqual([undefined, '7']);
    stream.stop();
  });

  it('goes on from where it was told to be, though nothing has happened yet', async () => {
    const { stream, line, lines, resetCount } = watch();
    stream.start();
    line().say('hello', 3);
    line().breakDown(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(lines.map(({ after }) => after)).toEqual([undefined, '3']);
    expect(resetCount()).toBe(1); // while there was no stream
    stream.stop();
  });

  it('has everything read anew when it was refused before it was told where it was', async () => {
    const { stream, line, resetCount } = watch();
    stream.start();
    line().breakDown(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(resetCount()).toBe(1);
    line().say('hello', 3);
    expect(resetCount()).toBe(2);
    line().say('hello', 3);
    expect(resetCount()).toBe(2);
    stream.stop();
  });

  it('is lost while the line is broken, and live again with the next event', () => {
    const { stream, line } = watch();
    stream.start();
    line().onopen?.();
    line().breakDown(0);
    expect(stream.connection.value).toBe('lost');
    line().say('leads', 1);
    expect(stream.connection.value).toBe('live');
    stream.stop();
  });

  it('reads everything anew now and then when the server is there but gives no stream', async () => {
    const { stream, line, resetCount } = watch();
    stream.start();
    line().breakDown(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.connection.value).toBe('polling');
    expect(resetCount()).toBe(1);
    stream.stop();
  });

  it('has everything read anew when the server no longer has what was missed', () => {
    const { stream, line, pictures, draw, resetCount } = watch();
    stream.start();
    line().say('leads', 1);
    line().say('reset', 9);
    draw();
    expect(resetCount()).toBe(1);
    expect(pictures).toEqual([]);
    stream.stop();
  });
});
