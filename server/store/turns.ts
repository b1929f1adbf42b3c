import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one goes on before others have their turn. */
const TURN_MS = 2;

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
