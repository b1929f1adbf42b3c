/** Control characters but line feed and tab, marks that turn the direction of text around, and what else ends a line. */
const ACTING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** The styles that `styled` gives; whoever sneaks one in makes a word bold. */
const STYLES = ['[1m', '[2m', '[22m', '[32m', '[39m'];

/**
 * Text as a terminal may get it: what would act on the terminal instead of being shown is written as JSON writes it, `\u001b`, so
 * that JSON stays what it is. Much of what commands print was sent by somebody else.
 */
export function shownText(text: string, { hasColour }: { hasColour: boolean }): string {
  return text.replace(ACTING, (sign, at: number) => {
    if (sign === '\n' || sign === '\t') return sign;
    if (hasColour && sign === '\u001b' && STYLES.some((style) => text.startsWith(style, at + 1))) return sign;
    return escaped(sign);
  });
}

/** Text that has to stay on one line. */
export function onOneLine(text: string): string {
  return text.replaceAll('\n', escaped);
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
