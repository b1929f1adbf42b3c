/**
 * Is a version of Node, such as `20.19.0`, older than another? Digits only: what the language itself has for this loads the orders of
 * all languages first, which a start has no time for.
 */
export function isOlderNode(version: string, than: string): boolean {
  const [own, other] = [version, than].map((text) => text.split('.').map(Number));
  for (let at = 0; at < 3; at += 1) {
    const difference = (own?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
