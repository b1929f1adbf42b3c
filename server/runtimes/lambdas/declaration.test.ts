import { expect, it } from 'vitest';
import { defaultLambdaProcesses } from './declaration.ts';

const GIB = 1024 ** 3;

it('memory and cores limit the number of lambda processes, with a minimum for lambdas that call one another', () => {
  expect(defaultLambdaProcesses(8 * GIB, 2)).toBe(42);
  expect(defaultLambdaProcesses(64 * GIB, 2)).toBe(64);
  expect(defaultLambdaProcesses(64 * GIB, 16)).toBe(341);
  expect(defaultLambdaProcesses(1 * GIB, 1)).toBe(16);
  expect(Number.isInteger(defaultLambdaProcesses())).toBe(true);
});
