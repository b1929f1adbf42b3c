/** Compares digits only, because loading the collation of Intl would slow down the start. */
export function isOlderNode(version: string, than: string): boolean {
  const [ownParts, other] = [version, than].map((text) => text.split('.').map(Number));
  for (let at = 0; at < 3; at += 1) {
    const difference = (ownParts?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
