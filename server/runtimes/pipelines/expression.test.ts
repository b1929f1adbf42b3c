import { expect, it } from 'vitest';
import { isTrue } from './expression.ts';

const VARIABLES = {
  CI_PIPELINE_SOURCE: 'push',
  BRANCH: 'feature/ferns',
  EMPTY: '',
  PATTERN: '/^feature\\/.+/',
  TEXT: 'no pattern',
  NO: 'false',
};

it.each([
  ['$BRANCH', true],
  ['$EMPTY', false],
  ['$NONE', false],
  // A word that says no is a word.
  ['$NO', true],
  ['$NONE == null', true],
  ['$EMPTY == null', false],
  ['$EMPTY == ""', true],
  ['$NONE == ""', false],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the definition's
  ["${CI_PIPELINE_SOURCE} == 'push'", true],
  ['$CI_PIPELINE_SOURCE != "push"', false],
  ['$NONE != "push"', true],
  ['$BRANCH == $BRANCH', true],
  ['$BRANCH =~ /^feature/', true],
  ['$BRANCH =~ /FERNS$/', false],
  ['$BRANCH =~ /FERNS$/i', true],
  ['$BRANCH =~ /feature\\/ferns/', true],
  ['$BRANCH =~ /\\Afeature.*s\\z/', true],
  ['$BRANCH !~ /^main$/', true],
  // What is not set is compared as an empty text.
  ['$NONE =~ /^v*/', true],
  ['$NONE =~ /v+/', false],
  ['$NONE !~ /v+/', true],
  ['$BRANCH =~ $PATTERN', true],
  // A text that is no pattern is searched for the one on the left.
  ['$BRANCH =~ $TEXT', false],
  ['"pattern" =~ $TEXT', true],
  ['$BRANCH =~ $NONE', false],
])('%s is %s', (expression, is) => {
  expect(isTrue(expression, VARIABLES)).toBe(is);
});

it.each([
  // `&&` binds closer than `||`.
  ['$A || $B && $C', { A: '1' }, true],
  ['($A || $B) && $C', { A: '1' }, false],
  ['$A && $B || $C', { C: '1' }, true],
  ['$A && ($B || $C)', { C: '1' }, false],
  ['!$A && $B', { B: '1' }, true],
  ['!($A || $B)', { B: '1' }, false],
  ['!($A && $B)', { B: '1' }, true],
  // `!` binds closer than a comparison, which compares its result as a text.
  ['!$A == "x"', { A: '1' }, false],
  ['!$A == "false"', { A: '1' }, true],
  ['"true" == !$A', {}, true],
  ['!!$A', { A: '1' }, true],
  // As in Ruby, an empty text counts for `&&` and `||`.
  ['$A && $B', { A: '', B: '1' }, true],
  ['$A || $B', { A: '', B: '1' }, false],
  ['$A && $B', { A: '1', B: '' }, false],
  ['("a" || "b") == "a"', {}, true],
  ['$A || false', {}, false],
  ['$A', { A: ' ' }, false],
  ['$A == "1" && $B != "1"', { A: '1' }, true],
  ['  $A\n  || $B  ', { B: '1' }, true],
])('%j with %j is %s', (expression, variables, is) => {
  expect(isTrue(expression, variables)).toBe(is);
});

it.each([
  ['', 'at character 1: a value is missing'],
  ['$A ==', 'at character 6: a value is missing'],
  ['$A == "b', 'at character 7: the quotation mark is not closed'],
  ['== "a"', 'at character 1: `==` is where a value has to be'],
  ['($A', 'at character 4: a `)` is missing'],
  ['$A)', 'at character 3: `)` is where an operator or the end has to be'],
  ['$A $B', 'at character 4: `$B` is where an operator or the end has to be'],
  ['$A & $B', 'at character 4: `& $B` is not an operator or a value'],
  ['$A =~ /(a/', 'at character 7: the pattern /(a/ is not valid'],
  ['$A =~ /./', 'at character 7: GitLab does not accept a pattern of a single character. Write /(.)/.'],
  ['$A =~ /a', 'at character 7: the pattern is not closed'],
  ['$A == word', 'at character 7: `word` is not an operator or a value. Texts need quotation marks.'],
])('%j is refused in a sentence that names it and the position', (expression, where) => {
  expect(() => isTrue(expression, { A: 'a' })).toThrow(`the condition \`${expression}\` is not valid ${where}`);
});
