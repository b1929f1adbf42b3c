import { reasonOf } from '../../model/errors.ts';
import { patternOf } from './pattern.ts';
import { PipelineError } from './pipeline-error.ts';

type Pattern = (text: string) => boolean;
type Value = string | Pattern | boolean | null;

const TOKEN =
  /(?:(&&|\|\||==|!=|=~|!~|\(|\)|!)|"([^"]*)"|'([^']*)'|\$\{(\w+)\}|\$(\w+)|(null|true|false)\b|\/((?:\\.|[^\\/])+)\/([a-z]*))/y;

type Token = { at: number } & ({ sign: string } | { value: Value } | { variable: string });

/**
 * Is an `if` of a rule true? Variables, texts, `null`, patterns, `==`, `!=`, `=~`, `!~`, `&&`, `||` and parentheses, as the server
 * has them.
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
    if (isNot) return !isTruthy(primary());
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
    if (sign === '==') return leftOperand === right;
    if (sign === '!=') return leftOperand !== right;
    // A variable can also contain a pattern.
    const pattern = typeof right === 'function' ? right : patternOfValue(String(right ?? ''));
    const isMatch = leftOperand !== null && (pattern?.(String(leftOperand)) ?? false);
    return sign === '=~' ? isMatch : !isMatch;
  };
  const chain = (next: () => Value, sign: '&&' | '||') => (): Value => {
    let leftOperand = next();
    while (isSign(sign)) {
      at += 1;
      // Read in any case.
      const right = isTruthy(next());
      leftOperand = sign === '&&' ? isTruthy(leftOperand) && right : isTruthy(leftOperand) || right;
    }
    return leftOperand;
  };
  const either: () => Value = chain(chain(comparison, '&&'), '||');
  const result = either();
  if (at < tokens.length) throw wrong('an operator or the end');
  return isTruthy(result);
}

const isTruthy = (value: Value): boolean => value !== null && value !== false && value !== '';

function patternOfValue(text: string): Pattern | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : patternOf(source, flags);
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
    else if (keyword !== undefined) tokens.push({ at, value: keyword === 'null' ? null : keyword });
    else tokens.push({ at, value: double ?? single ?? '' });
  }
  return tokens;
}

function patternIn(expression: string, at: number, source: string, flags: string | undefined): Pattern {
  try {
    return patternOf(source, flags);
  } catch (failure) {
    throw invalid(expression, at, reasonOf(failure));
  }
}
