import { expect, it } from 'vitest';
import { asVariables, expanded } from './job-variables.ts';

/** Variables of which each mentions the next one twice. */
const doubling = (last: string) =>
  Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`V${index}`, index < 39 ? `$V${index + 1}$V${index + 1}` : last]),
  );

it.each(['x', ''])(
  'variables that double in each of 40 steps are an error that names the first, with the value "%s"',
  (last) => {
    expect(() => expanded(asVariables(doubling(last)))).toThrow(
      /^variable 'V0' and the variables in its value multiply/,
    );
  },
);

it('variables that mention each other a few times are expanded', () => {
  expect(expanded(asVariables({ A: '$B-$B', B: '$C/$C', C: 'c', D: '$A $D' }))).toEqual({
    A: 'c/c-c/c',
    B: 'c/c',
    C: 'c',
    D: 'c/c-c/c ',
  });
});
