import { expect, it } from 'vitest';
import { faultPlaceOf, problemAt } from './fault-place.ts';
import type { RunResult } from './runs.ts';

const LAMBDA = '5ef71d27-5259-4e37-92c1-0a1c5a906b0b';

function failed(message: string, ...stderr: string[]): RunResult {
  return {
    executionId: '1',
    lambdaId: LAMBDA,
    durationMs: 1,
    cold: false,
    outcome: { ok: false, failure: 'error', message },
    logs: stderr.map((text) => ({ at: '', stream: 'stderr', text })),
    outbound: [],
  };
}

it('takes the place of a syntax error from the message', () => {
  expect(faultPlaceOf(failed("syntax error in index.js, line 2, column 9: Unexpected token ';'"))).toEqual({
    line: 2,
    column: 9,
  });
});

it('takes the first frame in the code of the lambda from a stack trace', () => {
  const stack = [
    'ReferenceError: nothing is not defined',
    '    at Object.parse (node:internal/x:1:1)',
    `    at exports.run (/tmp/t/lambdas/${LAMBDA}/82be/index.js:12:3)`,
    `    at later (/tmp/t/lambdas/${LAMBDA}/82be/index.js:40:1)`,
  ];
  expect(faultPlaceOf(failed('nothing is not defined', ...stack))).toEqual({ line: 12, column: 3 });
  expect(faultPlaceOf(failed('x', `    at /tmp/t/lambdas/${LAMBDA}/82be/index.js:7:9`))).toEqual({
    line: 7,
    column: 9,
  });
});

it('knows no place where none is named', () => {
  expect(faultPlaceOf(failed('it took too long'))).toBeUndefined();
  expect(faultPlaceOf(failed('x', 'at other/index.js:3:1'))).toBeUndefined();
  expect(
    faultPlaceOf({ ...failed('syntax error in index.js, line 2, column 1: x'), outcome: { ok: true } }),
  ).toBeUndefined();
});

it('marks the line without its indentation, and nothing beyond the end', () => {
  const source = 'first\n  second \n\nlast';
  expect(problemAt(source, { line: 2 }, 'bad')).toEqual({ from: 8, to: 14, message: 'bad' });
  expect(problemAt(source, { line: 3 }, 'bad')).toEqual({ from: 16, to: 16, message: 'bad' });
  expect(problemAt(source, { line: 4 }, 'bad')).toEqual({ from: 17, to: 21, message: 'bad' });
  expect(problemAt(source, { line: 5 }, 'bad')).toBeUndefined();
});
