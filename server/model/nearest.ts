import { distance } from 'fastest-levenshtein';

/** Maximum edit distance of a suggestion: two swapped letters of five. */
const LARGEST_SHARE = 0.4;
const MOST_NAMED = 3;

/** Returns the candidate that `written` probably means: the same in another letter case, or with a small edit distance. */
export function nearestOf(written: string, candidates: readonly string[]): string | undefined {
  return nearestNames(written, candidates)[0];
}

export function nearestNames(written: string, candidates: readonly string[]): string[] {
  const plain = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '');
  return candidates
    .map((name) => ({ name, share: distance(plain(written), plain(name)) / Math.max(1, plain(name).length) }))
    .filter(({ share }) => share <= LARGEST_SHARE)
    .sort((a, b) => a.share - b.share)
    .slice(0, MOST_NAMED)
    .map(({ name }) => name);
}
