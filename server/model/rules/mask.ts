export const MASK = '[masked]';

export function masked<T>(value: T, secrets: readonly string[]): T {
  // Longer secrets are replaced first, because the rest of one that contains another would reveal a part.
  const ordered = [...new Set(secrets)].filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  const within = (part: unknown): unknown => {
    if (typeof part === 'string') return ordered.reduce((text, secret) => text.replaceAll(secret, MASK), part);
    if (Array.isArray(part)) return part.map(within);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, within(member)]));
  };
  // Only strings are replaced, by strings.
  return within(value) as T;
}
