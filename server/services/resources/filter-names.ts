import { PlatformError } from '../../model/errors.ts';
import { nearestNames } from '../../model/nearest.ts';
import { parseUuid } from '../../model/record.ts';
import { typeOfWord } from '../../model/registry.ts';
import { idProperties } from '../../model/rules/references.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { HOME_KEY, shapeOf } from '../../model/types/schema-parts.ts';

/** Members of every record that a list can be filtered by besides its properties (D-187). */
const MEMBERS = ['name', 'description', 'id', 'parent'];
const IDS = ['id', 'parent', 'providerId'];
const OF_WORDS: Partial<Record<TypeWord, readonly string[]>> = {
  secrets: ['providerId'],
  providers: ['type'],
  rules: ['type'],
};

/** Matches the names by which lists of other services are paged. */
const PAGING = /^(limit|offset|page|per_?page|page_?(size|number|token)|max_?results|cursor|skip)$/i;

/** Throws 400 for a filter that the type does not know, with the nearest names (D-187). Types with open properties know any. */
export function requireFilters(filter: Readonly<Record<string, string>>, collection: TypeWord | 'resources'): void {
  const names = Object.keys(filter);
  for (const name of names) {
    const isId =
      IDS.includes(name) || (collection !== 'resources' && idProperties(typeOfWord(collection)).includes(name));
    if (isId) parseUuid(filter[name] ?? '', `filter '${name}'`);
  }
  if (collection === 'resources') {
    requireKnown(names.filter(isPaging), [], collection);
    return;
  }
  const type = typeOfWord(collection);
  const hidden = hiddenProperties(type);
  const ofTable = [...Object.keys(shapeOf(type.properties)), ...type.serverSet].filter(
    (name) => !hidden.includes(name),
  );
  const knownNames = [...MEMBERS, ...(OF_WORDS[collection] ?? []), ...ofTable];
  const isKnown = (name: string) => knownNames.includes(name) || (collection === 'users' && HOME_KEY.test(name));
  const isUnknown = (name: string) => !isKnown(name) && (collection !== 'providers' || isPaging(name));
  requireKnown(names.filter(isUnknown), knownNames, collection);
}

function isPaging(name: string): boolean {
  return PAGING.test(name);
}

export function requireKnown(unknown: readonly string[], knownNames: readonly string[], subject: string): void {
  const [first] = unknown;
  if (first === undefined) return;
  if (isPaging(first)) {
    const message = `'${first}' is not a filter: lists are not paged, and the response has all elements. Leave it out`;
    throw new PlatformError('invalid_query', message);
  }
  const nearest = nearestNames(first, knownNames);
  const hint = nearest.length > 0 ? `did you mean ${nearest.join(', ')}?` : `valid names: ${knownNames.join(', ')}`;
  const message = `${subject} have no property '${first.slice(0, 64)}' to filter by; ${hint}`;
  throw new PlatformError('invalid_query', message);
}
