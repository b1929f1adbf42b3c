import { type ErrorDetail, PlatformError } from '../../model/errors.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord } from '../../model/registry.ts';
import { referencesIn, replaceReferences } from '../../model/rules/references.ts';

/** A promoted record, with the target's secrets and volumes of the same names mounted (D-133). Throws 409 that names what is missing. */
export function boundIn(view: WorldView, source: StoredResource, target: StoredResource): StoredResource {
  const missing: ErrorDetail[] = [];
  const bound = new Map<string, string>();
  for (const { id, pointer, fact, target: named } of referencesIn(source)) {
    if (fact.onDelete !== 'unmounted') continue;
    const mounted = view.find(id);
    const boundTarget = mounted && view.named(named.word, mounted.name, target.id)[0];
    if (boundTarget) bound.set(id, boundTarget.id);
    else missing.push({ pointer, message: `${typeOfWord(named.word).singular} '${mounted?.name ?? id}'` });
  }
  if (missing.length === 0) {
    const properties = replaceReferences(
      typeOf(source).collection,
      source.properties,
      (id) => bound.get(id.toLowerCase()) ?? id,
    );
    return { ...source, properties };
  }
  const names = [...new Set(missing.map(({ message }) => message))].join(', ');
  throw new PlatformError(
    'environment_mismatch',
    `environment '${target.name}' lacks what ${typeOf(source).singular} '${source.name}' mounts: ${names}; create it there first. Nothing was promoted.`,
    { details: missing.map(({ pointer, message }) => ({ pointer, message: `${message} is not in '${target.name}'` })) },
  );
}
