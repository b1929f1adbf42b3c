/** Do all words that were typed occur, in any letter case? */
export function hasAllWords(typed: string, ...texts: readonly string[]): boolean {
  const haystack = texts.join(' ').toLowerCase();
  return typed
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}
