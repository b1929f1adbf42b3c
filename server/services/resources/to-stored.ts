import type { Operation } from 'fast-json-patch';
import type { JsonObject } from '../../model/json.ts';
import { applyPatch, placesOf, type RecordView } from '../../model/patch/patch.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import type { StoredResource } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';

export interface RecordRenderer {
  /** The record without its properties. */
  envelope(resource: StoredResource): JsonObject;
  properties(resource: StoredResource): JsonObject;
}

function once(render: () => JsonObject): () => JsonObject {
  let rendered: JsonObject | undefined;
  return () => {
    rendered ??= render();
    return rendered;
  };
}

/** The record as its writer left it: what can be parsed like the body of a request. */
export function toStored({
  name,
  description,
  tags,
  variables,
  properties,
}: StoredResource): JsonObject & { properties: JsonObject } {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(tags && { tags }),
    ...(variables && { variables }),
    properties,
  };
}

/**
 * Returns the document to which a patch applies: the stored form, with properties as clients see them where the type
 * says so (D-090, D-097).
 */
function patchedForm(
  record: StoredResource,
  view: RecordView,
  operations: readonly Operation[],
): ReturnType<typeof toStored> {
  const written = toStored(record);
  const { patchedAsShown = [] } = typeOf(record);
  if (patchedAsShown.length === 0) return written;
  const touched = new Set(operations.flatMap(placesOf).map((pointer) => segmentsOf(pointer)[1]));
  const asShown = patchedAsShown.flatMap((name) => {
    const value = touched.has(name) ? view.properties()[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...written, properties: { ...written.properties, ...Object.fromEntries(asShown) } };
}

/** The written form after a patch (D-090..D-095), to be checked like the body of a create (D-096). Throws 422. */
export function patchedDocument(
  record: StoredResource,
  renderer: RecordRenderer,
  operations: readonly Operation[],
): JsonObject {
  const type = typeOf(record);
  const view = {
    envelope: once(() => renderer.envelope(record)),
    properties: once(() => renderer.properties(record)),
  };
  return applyPatch(patchedForm(record, view, operations), view, operations, {
    renamable: type.renamable ?? true,
    serverSet: ['parent', ...type.serverSet],
    unreadable: hiddenProperties(type),
    replaceCreates: type.replaceCreates ?? [],
    ...(type.rewrite && { rewrite: type.rewrite }),
  });
}
