/** What stands where a text was that nobody may read in a log. */
const MASK = '[masked]';

/** The value, and every text within, without those secrets. */
export function masked<T>(value: T, secrets: readonly string[]): T {
  // Of secrets that contain each other the longest goes first: what is left of it would tell.
  const ordered = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((one, other) => other.length - one.length);
  const within = (part: unknown): unknown => {
    if (typeof part === 'string') return ordered.reduce((text, secret) => text.replaceAll(secret, MASK), part);
    if (Array.isArray(part)) return part.map(within);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, within(one)]));
  };
  // As: what was a text is one still, and nothing else is changed.
  return within(value) as T;
}
