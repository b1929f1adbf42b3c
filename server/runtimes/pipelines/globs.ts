import { patternOf } from './pattern.ts';

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
  const plain = pattern.replace(/^\.?\//, '').replace(/\/$/, '');
  for (let at = 0; at < plain.length; at += 1) {
    const sign = plain.charAt(at);
    if (sign === '*' && plain[at + 1] === '*') {
      const isAlone = at === 0 || plain[at - 1] === '/';
      // `**/` represents any number of folders, none as well.
      const isFolder = isAlone && plain[at + 2] === '/';
      source += isFolder ? '(?:.*/)?' : isAlone && at + 2 === plain.length ? rest : '[^/]*';
      at += isFolder ? 2 : 1;
    } else if (sign === '*') source += '[^/]*';
    else if (sign === '?') source += '[^/]';
    else if (sign === '[' && plain.indexOf(']', at + 2) > at) {
      const end = plain.indexOf(']', at + 2);
      source += `[${plain
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

/** The paths that a pattern of artifacts means, as the runner tells it: those that match it, and what is below a folder that does. */
export function matching(paths: readonly string[], pattern: string): string[] {
  if (pattern === '.' || pattern === './/') return [...paths];
  return paths.filter(patternOf(`^(?:${globSource(pattern, '.*')})(?:/|$)`));
}
