import { expect, it } from 'vitest';
import { processesThisMachineBears } from './config-machine.ts';

const GIB = 1024 ** 3;

it('as many processes of lambdas are allowed as memory and cores bear, and enough for lambdas that call one another', () => {
  expect(processesThisMachineBears(8 * GIB, 2)).toBe(42);
  expect(processesThisMachineBears(64 * GIB, 2)).toBe(64);
  expect(processesThisMachineBears(64 * GIB, 16)).toBe(341);
  expect(processesThisMachineBears(1 * GIB, 1)).toBe(16);
  expect(Number.isInteger(processesThisMachineBears())).toBe(true);
});
