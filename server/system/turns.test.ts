import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('runs a few tasks at a time, the others in their order, and goes on after one that fails', async () => {
  const turns = new Turns(2);
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const tasks = [0, 1, 2, 3].map((number) =>
    turns.run(async () => {
      started.push(number);
      await new Promise<void>((resolve) => finish.push(resolve));
      if (number === 0) throw new Error('failed');
    }),
  );
  expect([started, turns.waitingCount]).toEqual([[0, 1], 2]);
  finish[0]?.();
  await expect(tasks[0]).rejects.toThrow('failed');
  expect([started, turns.waitingCount]).toEqual([[0, 1, 2], 1]);
  finish[1]?.();
  await tasks[1];
  expect([started, turns.waitingCount]).toEqual([[0, 1, 2, 3], 0]);
  for (const end of finish.slice(2)) end();
  await Promise.all(tasks.slice(1));
});
