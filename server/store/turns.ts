import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one goes on before others have their turn. */
const TURN_MS = 2;

/** How long, and how much, one slice of a long text may be made. */
const SLICE_MS = 1;
const SLICE_CHARS = 128 * 1024;

/** Texts, put together to slices that are worth writing; others have their turn between two of them. */
export async function* inSlices(texts: Iterable<string>): AsyncGenerator<Buffer> {
  let slice = '';
  let endMs = performance.now() + SLICE_MS;
  for (const text of texts) {
    slice += text;
    if (slice.length < SLICE_CHARS && performance.now() < endMs) continue;
    yield Buffer.from(slice);
    slice = '';
    await nextTurn();
    endMs = performance.now() + SLICE_MS;
  }
  yield Buffer.from(slice);
}

/**
 * Does the same with each of many things, and lets others have their turn every few milliseconds: whoever calls the platform
 * meanwhile does not notice. What the things are taken from may change between two turns.
 */
export async function inTurns<T>(things: Iterable<T>, each: (thing: T) => unknown): Promise<void> {
  let endMs = performance.now() + TURN_MS;
  for (const thing of things) {
    const done = each(thing);
    if (done instanceof Promise) await done;
    if (performance.now() < endMs) continue;
    await nextTurn();
    endMs = performance.now() + TURN_MS;
  }
}
