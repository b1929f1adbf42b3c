import { PipelineError } from './pipeline-error.ts';

type Value = string | RegExp | boolean | null;

const TOKEN =
  /\s*(?:(&&|\|\||==|!=|=~|!~|\(|\)|!)|"([^"]*)"|'([^']*)'|\$\{(\w+)\}|\$(\w+)|(null|true|false)\b|\/((?:\\.|[^\\/])+)\/([a-z]*))/y;

type Token = { sign: string } | { value: Value } | { variable: string };

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
  const wrong = () =>
    new PipelineError(`the rule \`if: ${expression}\` cannot be read: see the server's CI/CD expressions`);
  const primary = (): Value => {
    const token = tokens[at];
    at += 1;
    if (token === undefined) throw wrong();
    if ('value' in token) return token.value;
    if ('variable' in token) return variables[token.variable] ?? null;
    if (token.sign === '!') return !isTruthy(primary());
    if (token.sign !== '(') throw wrong();
    const inner = either();
    if (!isSign(')')) throw wrong();
    at += 1;
    return inner;
  };
  const comparison = (): Value => {
    const left = primary();
    const sign = isSign('==', '!=', '=~', '!~');
    if (sign === undefined) return left;
    at += 1;
    const right = primary();
    if (sign === '==') return left === right;
    if (sign === '!=') return left !== right;
    // A variable may hold a pattern, too.
    const pattern = right instanceof RegExp ? right : patternIn(String(right ?? ''));
    const isMatch = left !== null && (pattern?.test(String(left)) ?? false);
    return sign === '=~' ? isMatch : !isMatch;
  };
  const both = (): Value => {
    let left = comparison();
    while (isSign('&&')) {
      at += 1;
      const right = comparison();
      left = isTruthy(left) && isTruthy(right);
    }
    return left;
  };
  const either = (): Value => {
    let left = both();
    while (isSign('||')) {
      at += 1;
      const right = both();
      left = isTruthy(left) || isTruthy(right);
    }
    return left;
  };
  const result = either();
  if (at < tokens.length) throw wrong();
  return isTruthy(result);
}

const isTruthy = (value: Value): boolean => value !== null && value !== false && value !== '';

function patternIn(text: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : compiled(source, flags ?? '');
}

function compiled(source: string, flags: string): RegExp {
  try {
    return new RegExp(source.replace(/\\A/g, '^').replace(/\\[zZ]/g, '$'), flags.replace(/[^ims]/g, ''));
  } catch {
    throw new PipelineError(`the pattern /${source}/ in a rule cannot be read`);
  }
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < expression.trimEnd().length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(expression);
    if (!found) {
      throw new PipelineError(`the rule \`if: ${expression}\` cannot be read at \`${expression.slice(at).trim()}\``);
    }
    at = TOKEN.lastIndex;
    const [, sign, double, single, braced, bare, word, source, flags] = found;
    const variable = braced ?? bare;
    if (sign !== undefined) tokens.push({ sign });
    else if (variable !== undefined) tokens.push({ variable });
    else if (source !== undefined) tokens.push({ value: compiled(source, flags ?? '') });
    else if (word !== undefined) tokens.push({ value: word === 'null' ? null : word });
    else tokens.push({ value: double ?? single ?? '' });
  }
  return tokens;
}
