import { RE2JS } from 're2js';
import { reasonOf } from '../../model/errors.ts';
import { PipelineError } from './pipeline-error.ts';

/** With these limits the slowest pattern takes a moment. */
const MAX_PATTERN_CHARACTERS = 1_000;
const MAX_REPEATED_CHARACTERS = 10_000;
const MAX_TEXT_CHARACTERS = 10_000;
const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  s: RE2JS.DOTALL,
  m: RE2JS.MULTILINE,
};

/**
 * A regular expression as the server reads it (RE2): the time of a match grows with the text only, whatever the expression.
 *
 * @param flags of `i`, `s` and `m`; others are ignored
 * @throws PipelineError for one that is not valid, or too large; when called, for a text that is too long
 */
export function patternOf(source: string, flags = ''): (text: string) => boolean {
  const compiled = compile(source, flags);
  return (text) => {
    if (text.length > MAX_TEXT_CHARACTERS)
      throw new PipelineError(
        `${shownOf(source)} cannot be compared with a text of more than ${MAX_TEXT_CHARACTERS} characters`,
      );
    return compiled.test(text);
  };
}

/** Finds the last match of such an expression in the first part of a text. */
export function lastMatchOf(source: string, flags = ''): (text: string) => string | undefined {
  const compiled = compile(source, flags);
  return (text) => {
    const matcher = compiled.matcher(text.slice(0, MAX_TEXT_CHARACTERS));
    let last: string | undefined;
    while (matcher.find()) last = matcher.group() ?? undefined;
    return last;
  };
}

const shownOf = (source: string) => `the pattern /${source.slice(0, 200)}/`;

function compile(source: string, flags: string): RE2JS {
  const displayedSource = shownOf(source);
  const repeats = Math.max(1, ...Array.from(source.matchAll(/\d{1,5}(?=[,}])/g), Number));
  if (source.length > MAX_PATTERN_CHARACTERS || source.length * repeats > MAX_REPEATED_CHARACTERS)
    throw new PipelineError(`${displayedSource} is too long, or repeats too much. Shorten it.`);
  try {
    return RE2JS.compile(
      source,
      [...flags].reduce((sum, flag) => sum | (FLAGS[flag] ?? 0), 0),
    );
  } catch (cause) {
    throw new PipelineError(`${displayedSource} is not valid: ${reasonOf(cause)}`);
  }
}

/**
 * Returns true if a rule's pattern matches a file, in the way of the server (Ruby's `fnmatch`): two stars stand for folders alone before a slash,
 * and are one star elsewhere.
 */
export function ruleMatch(pattern: string): (path: string) => boolean {
  return patternOf(`^${globSource(pattern, '[^/]*')}$`);
}

/**
 * A regular expression for a pattern with `*`, `**`, `?`, `[a-z]` and `{one,other}`.
 * @param rest what `**` matches at the end of a pattern
 */
function globSource(pattern: string, rest: '[^/]*' | '.*'): string {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at);
    if (sign === '*' && pattern[at + 1] === '*') {
      const isAlone = at === 0 || pattern[at - 1] === '/';
      // `**/` represents any number of folders, none as well.
      const isFolder = isAlone && pattern[at + 2] === '/';
      source += isFolder ? '(?:.*/)?' : isAlone && at + 2 === pattern.length ? rest : '[^/]*';
      at += isFolder ? 2 : 1;
    } else if (sign === '*') source += '[^/]*';
    else if (sign === '?') source += '[^/]';
    else if (sign === '[' && pattern.indexOf(']', at + 2) > at) {
      const end = pattern.indexOf(']', at + 2);
      source += `[${pattern
        .slice(at + 1, end)
        .replace(/^!/, '^')
        .replace(/[\\[]/g, '\\$&')}]`;
      at = end;
    } else if (sign === '{') {
      source += '(?:';
      depth += 1;
    } else if (sign === '}' && depth > 0) {
      source += ')';
      depth -= 1;
    } else if (sign === ',' && depth > 0) source += '|';
    else source += sign.replace(/[.+^$()|[\]\\{}]/, '\\$&');
  }
  return `${source}${')'.repeat(depth)}`;
}

/** Returns true for a path that a pattern of excluded artifacts matches. It does not mean what is below a folder. */
export function exactMatch(pattern: string): (path: string) => boolean {
  return patternOf(`^${globSource(pathOf(pattern), '.*')}$`);
}

/** The paths that a pattern of artifacts means, as the runner tells it: those that match it, and what is below a folder that does. */
export function matching(paths: readonly string[], pattern: string): string[] {
  if (pattern === '.' || pattern === './/') return [...paths];
  return paths.filter(patternOf(`^(?:${globSource(pathOf(pattern), '.*')})(?:/|$)`));
}

/** A pattern of artifacts as the paths that it is compared with: relative to the project, and without the slash after a folder. */
const pathOf = (pattern: string) => pattern.replace(/^\.?\//, '').replace(/\/$/, '');
