import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { canWatchTurns, LONGEST_TURN_MS, takeLongestTurn, watchPlatform, watchTurns } from './turn-watch.ts';

/** Uses the processor. */
function computeFor(ms: number): void {
  const begin = process.cpuUsage();
  for (let used = 0; used < ms * 1_000; ) {
    const { user, system } = process.cpuUsage(begin);
    used = user + system;
  }
}

// Far more than the limit: on a busy machine, the measured time is divided by how much slower the processor is.
const inOneTurn = async () => computeFor(10 * LONGEST_TURN_MS);
const inSlices = async () => {
  for (let count = 0; count < 20; count += 1) {
    computeFor(LONGEST_TURN_MS / 10);
    await nextTurn();
  }
};

it.runIf(canWatchTurns)('measures the longest turn of some work', async () => {
  expect((await watchTurns(inOneTurn)).longestMs).toBeGreaterThan(LONGEST_TURN_MS);
  expect((await watchTurns(inSlices)).longestMs).toBeLessThan(LONGEST_TURN_MS);
});

it.runIf(canWatchTurns)('reports a long turn of a platform, once', async () => {
  const stop = watchPlatform();
  await nextTurn();
  await inSlices();
  expect(await takeLongestTurn(LONGEST_TURN_MS)).toBe(0);
  await inOneTurn();
  expect(await takeLongestTurn(LONGEST_TURN_MS)).toBeGreaterThan(LONGEST_TURN_MS);
  expect(await takeLongestTurn(LONGEST_TURN_MS)).toBe(0);
  stop();
});
