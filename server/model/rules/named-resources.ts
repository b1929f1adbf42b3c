import { PlatformError } from '../errors.ts';
import type { StoredResource, WorldView } from '../record.ts';
import { typeOf, typeOfWord } from '../registry.ts';
import { type Reference, referencesIn } from './references.ts';

type Named = Pick<StoredResource, 'type' | 'properties'>;

/** New references of a record; unchanged ones may lead to deleted targets (D-096). Throws 400, 404 or 422, as the property defines. */
export function newlyNamed(
  view: WorldView,
  record: Named,
  before?: Named,
  mayBeGone: (reference: Reference) => boolean = () => false,
): { reference: Reference; resource: StoredResource }[] {
  const previousKeys = new Set(before && referencesIn(before).map(keyOf));
  return referencesIn(record).flatMap((reference) => {
    if (previousKeys.has(keyOf(reference))) return [];
    if (mayBeGone(reference) && !view.find(reference.id)) return [];
    const resource = present(view, reference);
    return resource ? { reference, resource } : [];
  });
}

function keyOf({ id, target: { word: collection, right } }: Reference): string {
  return `${collection} ${right} ${id}`;
}

/** `<id> is the id of an environment` */
export function describeKind(found: Pick<StoredResource, 'id' | 'type'>): string {
  const { singular } = typeOf(found);
  return `${found.id} is the id of ${/^[aeiou](?!ser)/.test(singular) ? 'an' : 'a'} ${singular}`;
}

/** The target; undefined if any value is allowed. Throws if no resource of that type has the id. */
function present(
  view: WorldView,
  { id, pointer, target: { word: collection }, fact }: Reference,
): StoredResource | undefined {
  const found = view.find(id);
  if (found && typeOf(found).collection === collection) return found;
  if (fact.missing === undefined) return undefined;
  const { singular } = typeOfWord(collection);
  const description = found ? describeKind(found) : id;
  if (fact.missing === 400) {
    const message = `is not the id of an existing ${singular}: ${description}`;
    throw new PlatformError('reference_not_found', `${pointer} ${message}`, { details: [{ pointer, message }] });
  }
  const message = found ? `${singular} ${id} not found: ${description}` : `${singular} ${id} not found`;
  throw new PlatformError(
    fact.missing === 422 ? 'parent_not_found' : 'not_found',
    fact.missing === 422 ? `${pointer}: ${message}` : message,
    {
      details: [{ pointer, message }],
    },
  );
}
