import { masked } from '../model/masked-text.ts';

/** Takes secrets out of what is shown, and out of what is searched for it: else a search would tell. */
export interface Hiding {
  value<T>(shown: T): T;
  /** Texts that are worked out when they are asked for stay so. */
  facts<T extends object>(facts: T): T;
}

/** @param secrets also found as JSON and forms write them */
export function hiding(secrets: readonly string[]): Hiding {
  const written = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ]);
  if (written.length === 0) return { value: (shown) => shown, facts: (facts) => facts };
  const value = <T>(shown: T): T => masked(shown, written);
  return {
    value,
    facts: (facts) => {
      const hidden = Object.entries(facts).map(([name, fact]) => [
        name,
        typeof fact === 'function' ? () => value(fact()) : value(fact),
      ]);
      return Object.fromEntries(hidden); // each fact is of its own type still
    },
  };
}
