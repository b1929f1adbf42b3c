/** Control characters, bidirectional control characters, and Unicode line separators. */
const ACTING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/**
 * Matches the part after ESC of bold, dim and colors of the text, except black, and their ends. Injecting one of them
 * does no harm.
 */
export const STYLE = /\[(?:(?:0|1|2|22|39|3[1-7]|9[0-7])(?:;|(?=m))){0,4}m/;
const STYLE_HERE = new RegExp(STYLE, 'y');

/**
 * Escapes characters that control the terminal, like JSON (`\u001b`), so that JSON output stays valid. Much of the printed text comes
 * from other users.
 */
export function toTextView(text: string, { hasColour }: { hasColour: boolean }): string {
  return text.replace(ACTING, (sign, at: number) => {
    if (sign === '\n' || sign === '\t') return sign;
    STYLE_HERE.lastIndex = at + 1;
    if (hasColour && sign === '\u001b' && STYLE_HERE.test(text)) return sign;
    return escaped(sign);
  });
}

export function onOneLine(text: string): string {
  return text.replaceAll('\n', escaped);
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
