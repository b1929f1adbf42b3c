import { expect, it } from 'vitest';
import { inTime } from '../../testing/in-time.ts';
import { isTrue } from './expression.ts';
import { inScope } from './job-variables.ts';
import { matching, patternOf, ruleMatch } from './pattern.ts';

const LONG = 'a'.repeat(4_000);
const scoped = (scope: string) => [
  { key: 'KEY', value: '1', variable_type: 'env_var', raw: false, environment_scope: scope, level: 0 },
];

it.each<[string, () => unknown, unknown]>([
  ['in an `if`', () => isTrue('$BRANCH =~ /^(a+)+$/', { BRANCH: `${LONG}!` }), false],
  [
    'in a variable that an `if` reads',
    () => isTrue('$BRANCH =~ $PATTERN', { BRANCH: `${LONG}!`, PATTERN: '/(a|a|ab)+c/' }),
    false,
  ],
  ['in a changed path', () => ruleMatch(`${'{a,aa}'.repeat(60)}b`)(LONG), false],
  ['in folders of a changed path', () => ruleMatch(`${'**/'.repeat(60)}b`)('a/'.repeat(1_000)), false],
  ['in artifacts', () => matching([LONG], `${'*a'.repeat(60)}b`), []],
  ['in the scope of a variable', () => inScope(scoped(`${'*a'.repeat(60)}*b`), LONG), []],
])('a pattern %s takes a time that grows with the text only', (_where, match, found) => {
  expect(inTime(match)).toEqual(found);
});

it.each([
  ['(?=a)', 'is not valid'],
  ['[z-a]', 'is not valid'],
  ['a'.repeat(1_001), 'is too long'],
  ['(abcdefghijkl){1000}', 'repeats too much'],
])('the pattern %.20s %s', (source, reason) => {
  expect(() => patternOf(source)).toThrow(reason);
});

it('a pattern is not compared with a text that is too long', () => {
  expect(() => patternOf('a')('a'.repeat(10_001))).toThrow('more than 10000 characters');
});

it.each([
  ['feature', 'i', 'FEATURE/1', true],
  ['a.b', 's', 'a\nb', true],
  ['a.b', '', 'a\nb', false],
  ['^b$', 'm', 'a\nb', true],
  ['^b$', 'x', 'a\nb', false],
])('/%s/%s is compared with %j as on the server', (source, flags, text, is) => {
  expect(patternOf(source, flags)(text)).toBe(is);
});
