import { Parser } from 'yaml';
import { MAX_JSON_DEPTH } from './json-limits.ts';

/** Maximum number of words, marks and spaces: each takes hundreds of bytes in memory while a document is read. */
const MAX_TOKENS = 2_000_000;
/** A text with more is not YAML. The reader needs a time that grows with their square. */
const MAX_ERRORS = 10;

/** Why and in which line a YAML text exceeds the limits of input; undefined if it does not. Keeps nothing of the text in memory. */
export function faultOfYaml(text: string): { reason: string; line: number } | undefined {
  let line = 0;
  const parser = new BoundedParser(() => {
    line += 1;
  });
  try {
    for (const _token of parser.parse(text));
  } catch (fault) {
    if (fault instanceof LimitExceeded) return { reason: fault.message, line };
    throw fault;
  }
  return undefined;
}

class LimitExceeded extends Error {}

class BoundedParser extends Parser {
  #tokens = 0;
  #errors = 0;

  override *next(source: string) {
    this.#tokens += 1;
    if (this.#tokens > MAX_TOKENS) throw new LimitExceeded(`it has more than ${MAX_TOKENS} words and marks`);
    if (this.stack.length > MAX_JSON_DEPTH)
      throw new LimitExceeded(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    for (const token of super.next(source)) {
      if (token.type === 'error') this.#errors += 1;
      if (this.#errors > MAX_ERRORS)
        throw new LimitExceeded(`it is not well-formed YAML in more than ${MAX_ERRORS} places`);
      yield token;
    }
  }
}
