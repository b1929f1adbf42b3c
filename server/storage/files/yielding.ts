import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 2;

/** How long a request computes before others get a turn: long enough for most requests to be answered in one turn. */
const REQUEST_TURN_MS = 20;
/** How often a computation yields before it is done in one turn, because the world changes all the time. */
const MAX_ATTEMPTS = 4;

const SLICE_MS = 1;
const SLICE_CHARS = 128 * 1024;

/** Joins texts to slices of a useful size; other tasks get a turn between two slices. */
export async function* chunked(texts: Iterable<string>): AsyncGenerator<Buffer> {
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

export type Pause = () => Promise<void> | undefined;

/** Pauses of what computes for long: in each, others get a turn if they had none for that time. */
export function pauses(turnMs = REQUEST_TURN_MS): Pause {
  let endMs = performance.now() + turnMs;
  const pause = async () => {
    await nextTurn();
    endMs = performance.now() + turnMs;
  };
  return () => (performance.now() < endMs ? undefined : pause());
}

/** Runs a computation to its end and yields to other tasks every few milliseconds, at one of its own `yield`s. */
export async function inSlices<T>(work: Generator<unknown, T>): Promise<T> {
  const pause = pauses(TURN_MS);
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    const turn = pause();
    if (turn) await turn;
  }
}

/** Yields to other tasks every few milliseconds, so that requests are not delayed. The source can change between two turns. */
export async function yieldingForEach<T>(items: Iterable<T>, each: (item: T) => unknown): Promise<void> {
  const pause = pauses(TURN_MS);
  for (const item of items) {
    const done = each(item);
    if (done instanceof Promise) await done;
    const turn = pause();
    if (turn) await turn;
  }
}

export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Yields to other tasks, and starts again if the world changes meanwhile. `work` may change the world after its last `yield`. */
export async function ofOneWorld<T>(view: { revision?: number }, work: () => Generator<unknown, T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { revision } = view;
    const steps = work();
    const pause = pauses(attempt === MAX_ATTEMPTS ? Number.POSITIVE_INFINITY : REQUEST_TURN_MS);
    do {
      const step = steps.next();
      if (step.done) return step.value;
      const turn = pause();
      if (turn) await turn;
    } while (view.revision === revision);
  }
}
