import { PlatformError } from './errors.ts';
import type { StoredResource } from './record.ts';
import { type Reference, referencesIn } from './references.ts';
import { typeOf, typeOfWord } from './registry.ts';
import type { WorldView } from './world-view.ts';

type Named = Pick<StoredResource, 'type' | 'properties'>;

/** A resource that a record names, and where. */
export interface NamedResource {
  reference: Reference;
  resource: StoredResource;
}

/**
 * What a record newly names. What it named before is left out, whatever has become of that since (D-096).
 *
 * @param before the record as it was; absent for a new one
 * @param mayBeGone may what a reference names be missing?
 * @throws PlatformError 400, 404 or 422, as the property decides, for what is not there or of another type
 */
export function newlyNamed(
  view: WorldView,
  record: Named,
  before?: Named,
  mayBeGone: (reference: Reference) => boolean = () => false,
): NamedResource[] {
  const known = new Set(before && referencesIn(before).map(keyOf));
  return referencesIn(record).flatMap((reference) => {
    if (known.has(keyOf(reference))) return [];
    if (mayBeGone(reference) && !view.find(reference.id)) return [];
    const resource = present(view, reference);
    return resource ? { reference, resource } : [];
  });
}

function keyOf({ id, target: { word, right } }: Reference): string {
  return `${word} ${right} ${id}`;
}

/** `<id> is the id of an environment` */
export function whatIs(found: Pick<StoredResource, 'id' | 'type'>): string {
  const { noun } = typeOf(found);
  return `${found.id} is the id of ${/^[aeiou](?!ser)/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** What is named; undefined where anything may be written. Throws when nothing of that type is there. */
function present(view: WorldView, { id, pointer, target: { word }, fact }: Reference): StoredResource | undefined {
  const found = view.find(id);
  if (found && typeOf(found).word === word) return found;
  if (fact.missing === undefined) return undefined;
  const { noun } = typeOfWord(word);
  const what = found ? whatIs(found) : id;
  if (fact.missing === 400) {
    const message = `names no ${noun}: ${what}`;
    throw new PlatformError(400, `${pointer} ${message}`, { details: [{ pointer, message }] });
  }
  const message = found ? `${noun} ${id} not found: ${what}` : `${noun} ${id} not found`;
  throw new PlatformError(fact.missing, fact.missing === 422 ? `${pointer}: ${message}` : message, {
    details: [{ pointer, message }],
  });
}
