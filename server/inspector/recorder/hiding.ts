import { masked } from '../../model/rules/masked-text.ts';

/**
 * Removes secrets from the shown and the searched text; otherwise a search would reveal them.
 * @param secrets also found in the notations of JSON and forms
 */
export function hiding(secrets: readonly string[]) {
  const written = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ]);
  const isNone = written.length === 0;
  const value = <T>(item: T): T => (isNone ? item : masked(item, written));
  return {
    value,
    /** Texts that are worked out when they are asked for stay so. */
    facts<T extends object>(facts: T): T {
      if (isNone) return facts;
      const hidden = Object.entries(facts).map(([name, fact]) => [
        name,
        typeof fact === 'function' ? () => value(fact()) : value(fact),
      ]);
      return Object.fromEntries(hidden) as T; // each fact is of its own type still
    },
  };
}
