/** Maximum nesting of JSON input: far above any real record, far below the limit of the stack. */
export const MAX_JSON_DEPTH = 100;

/** Maximum number of members and elements in JSON input: each takes many times its text in memory. */
export const MAX_JSON_VALUES = 1_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns the reason why a JSON text exceeds the limits of input; undefined if it does not. Counts without parsing. */
export function faultOfJson(text: string, maxValues = MAX_JSON_VALUES): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      while (++at < text.length && text.charCodeAt(at) !== QUOTE) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) return `JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
      values++;
    } else if (char === 0x5d || char === 0x7d) depth--;
    else if (char === 0x2c) values++;
    if (values > maxValues) return `JSON has more than ${maxValues} members and elements`;
  }
  return undefined;
}
