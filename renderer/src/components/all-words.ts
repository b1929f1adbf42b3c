/** Returns true if all typed words occur, in any letter case. */
export function hasAllWords(typed: string, ...texts: readonly string[]): boolean {
  const haystack = texts.join(' ').toLowerCase();
  return typed
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((term) => haystack.includes(term));
}
