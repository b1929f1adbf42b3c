import { PlatformError } from '../model/errors.ts';
import { nearestNames } from '../model/nearest.ts';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { HOME_KEY } from '../model/types/brand-keys.ts';
import { shapeOf } from '../model/types/schema-parts.ts';

/** Members of every record that a list can be filtered by besides its properties (D-187). */
const MEMBERS = ['name', 'description', 'id', 'parent'];
/** Beyond the properties of a type. */
const OF_WORDS: Partial<Record<TypeWord, readonly string[]>> = {
  secrets: ['providerId'],
  providers: ['type'],
  rules: ['type'],
};

/**
 * Throws 400 for a filter of a list that its type knows nothing of, with the nearest names that it does (D-187). Types whose
 * properties are open know any; a list of `resources` is of all types.
 */
export function demandFilters(names: readonly string[], word: TypeWord | 'resources'): void {
  if (word === 'resources') return;
  const { properties: schema, serverSet, hidden = [] } = typeOfWord(word);
  const shape = shapeOf(schema);
  const ofTable = [...Object.keys(shape), ...serverSet].filter((name) => !hidden.includes(name));
  const known = [...MEMBERS, ...(OF_WORDS[word] ?? []), ...ofTable];
  const isKnown = (name: string) => known.includes(name) || (word === 'users' && HOME_KEY.test(name));
  if (word !== 'providers')
    demandKnown(
      names.filter((name) => !isKnown(name)),
      known,
      word,
    );
}

/** Throws 400 when there are unknown names. @param what is filtered */
export function demandKnown(unknown: readonly string[], known: readonly string[], what: string): void {
  const [first] = unknown;
  if (first === undefined) return;
  const nearest = nearestNames(first, known);
  const hint = nearest.length > 0 ? `the nearest: ${nearest.join(', ')}` : `known are ${known.join(', ')}`;
  const message = `${what} have no property '${first.slice(0, 64)}' to be filtered by; ${hint}`;
  throw new PlatformError(400, message);
}
