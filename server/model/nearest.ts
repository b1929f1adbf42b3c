import { distance } from 'fastest-levenshtein';

/** So much of a name may differ for it to be taken for another: two letters of five that changed places. */
const LARGEST_SHARE = 0.4;
const MOST_NAMED = 3;

/** The name among `known` that was probably meant by `written`: the same in another letter case, or almost the same letters. */
export function nearestOf(written: string, known: readonly string[]): string | undefined {
  return nearestNames(written, known)[0];
}

/** Those that may have been meant, the most probable first; three at most. */
export function nearestNames(written: string, known: readonly string[]): string[] {
  const plain = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '');
  return known
    .map((name) => ({ name, share: distance(plain(written), plain(name)) / Math.max(1, plain(name).length) }))
    .filter(({ share }) => share <= LARGEST_SHARE)
    .sort((one, other) => one.share - other.share)
    .slice(0, MOST_NAMED)
    .map(({ name }) => name);
}
