export interface JsonToken {
  kind: 'name' | 'text' | 'number' | 'word' | 'sign';
  text: string;
  /** The offset of its first character. */
  at: number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;

/** Splits a JSON text into parts to color; text between them (and text that is not JSON) is `sign`. The parts together are the text. */
export function jsonTokens(json: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let at = 0;
  const push = (kind: JsonToken['kind'], end: number) => {
    if (end > at) tokens.push({ kind, text: json.slice(at, end), at });
    at = end;
  };
  for (const match of json.matchAll(TOKEN)) {
    push('sign', match.index);
    const [text, colon] = match;
    if (text.startsWith('"')) {
      push(colon === undefined ? 'text' : 'name', match.index + text.length - (colon?.length ?? 0));
      push('sign', match.index + text.length);
    } else push(/[a-z]/.test(text.charAt(0)) ? 'word' : 'number', match.index + text.length);
  }
  push('sign', json.length);
  return tokens;
}
