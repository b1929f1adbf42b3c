import { reasonOf } from '../../model/errors.ts';
import { patternOf } from './pattern.ts';
import { PipelineError } from './pipeline-error.ts';

type Pattern = (text: string) => boolean;
type Value = string | Pattern | boolean | null;

const TOKEN =
  /(?:(&&|\|\||==|!=|=~|!~|\(|\)|!)|"([^"]*)"|'([^']*)'|\$\{(\w+)\}|\$(\w+)|(null|true|false)\b|\/((?:\\.|[^\\/])+)\/([a-z]*))/y;

type Token = { at: number } & ({ sign: string } | { value: Value } | { variable: string });

/**
 * Is an `if` of a rule true? Variables, texts, `null`, patterns, `==`, `!=`, `=~`, `!~`, `!`, `&&`, `||` and parentheses, as the server
 * has them: `!` binds closer than a comparison, and an empty text is true for `&&` and `||`, as in Ruby.
 *
 * @throws PipelineError for one that cannot be read
 */
export function isTrue(expression: string, variables: Readonly<Record<string, string>>): boolean {
  const tokens = tokensOf(expression);
  let at = 0;
  const isSign = (...signs: string[]) => {
    const token = tokens[at];
    return token !== undefined && 'sign' in token && signs.includes(token.sign) ? token.sign : undefined;
  };
  /** The token at the present position is not what has to be there. */
  const wrong = (expectation: string) => {
    const from = tokens[at]?.at;
    if (from === undefined) return invalid(expression, expression.trimEnd().length, `${expectation} is missing`);
    const text = expression.slice(from, tokens[at + 1]?.at).trim();
    return invalid(expression, from, `\`${text}\` is where ${expectation} has to be`);
  };
  const primary = (): Value => {
    const token = tokens[at];
    if (token === undefined) throw wrong('a value');
    const isNot = 'sign' in token && token.sign === '!';
    if ('sign' in token && !isNot && token.sign !== '(') throw wrong('a value');
    at += 1;
    if ('value' in token) return token.value;
    if ('variable' in token) return variables[token.variable] ?? null;
    if (isNot) return !isPresent(primary());
    const inner = either();
    if (!isSign(')')) throw wrong('a `)`');
    at += 1;
    return inner;
  };
  const comparison = (): Value => {
    const leftOperand = primary();
    const sign = isSign('==', '!=', '=~', '!~');
    if (sign === undefined) return leftOperand;
    at += 1;
    const right = primary();
    if (sign === '==' || sign === '!=') return (textOf(leftOperand) === textOf(right)) === (sign === '==');
    return isMatch(String(leftOperand ?? ''), right) === (sign === '=~');
  };
  const chain = (next: () => Value, sign: '&&' | '||') => (): Value => {
    let leftOperand = next();
    while (isSign(sign)) {
      at += 1;
      // Read in any case.
      const right = next();
      const isDecided = (leftOperand === null || leftOperand === false) === (sign === '&&');
      if (!isDecided) leftOperand = right;
    }
    return leftOperand;
  };
  const either: () => Value = chain(chain(comparison, '&&'), '||');
  const result = either();
  if (at < tokens.length) throw wrong('an operator or the end');
  return isPresent(result);
}

/** False for what counts as blank. */
const isPresent = (value: Value): boolean => value !== null && value !== false && String(value).trim() !== '';

/** A value to compare: the result of a comparison is a text then. */
const textOf = (value: Value) => (typeof value === 'boolean' ? String(value) : value);

/** True if a pattern matches a text, or if a text, which is no pattern, contains it. A variable can contain a pattern, too. */
function isMatch(text: string, right: Value): boolean {
  if (typeof right === 'function') return right(text);
  if (right === null) return false;
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(String(right)) ?? [];
  return source === undefined ? String(right).includes(text) : patternOf(source, flags)(text);
}

const invalid = (expression: string, at: number, why: string) =>
  new PipelineError(`the condition \`${expression}\` is not valid at character ${at + 1}: ${why}`);

/** Returns why no token begins with this text. */
function unreadable(rest: string): string {
  if (/^["']/.test(rest)) return 'the quotation mark is not closed';
  if (rest.startsWith('/')) return 'the pattern is not closed';
  return `\`${rest}\` is not an operator or a value${/^\w/.test(rest) ? '. Texts need quotation marks.' : ''}`;
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  const end = expression.trimEnd().length;
  for (let next = 0; next < end; next = TOKEN.lastIndex) {
    const at = next + expression.slice(next).search(/\S/);
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(expression);
    if (!found) throw invalid(expression, at, unreadable(expression.slice(at).trim()));
    const [, sign, double, single, braced, bare, keyword, source, flags] = found;
    const variable = braced ?? bare;
    if (sign !== undefined) tokens.push({ at, sign });
    else if (variable !== undefined) tokens.push({ at, variable });
    else if (source !== undefined) tokens.push({ at, value: patternIn(expression, at, source, flags) });
    else if (keyword !== undefined) tokens.push({ at, value: keyword === 'null' ? null : keyword === 'true' });
    else tokens.push({ at, value: double ?? single ?? '' });
  }
  return tokens;
}

function patternIn(expression: string, at: number, source: string, flags: string | undefined): Pattern {
  if (source.length === 1)
    throw invalid(expression, at, `GitLab does not accept a pattern of a single character. Write /(${source})/.`);
  try {
    return patternOf(source, flags);
  } catch (failure) {
    throw invalid(expression, at, reasonOf(failure));
  }
}
