import { isDeepStrictEqual } from 'node:util';
import { decodeText } from '../../model/base64-text.ts';
import { type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { isUuid, type StoredResource, type Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { replaceReferences } from '../../model/rules/references.ts';
import { replaceSecrets } from '../../model/rules/secrets.ts';
import { fullNameOf } from '../../model/type-names.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { shapeOf } from '../../model/types/schema-parts.ts';
import { LITERAL } from './seed-scope.ts';
import { entriesOf, identityWords } from './seed-target.ts';

export interface FormOptions {
  /** First segment of type names (D-080). */
  typePrefix: string;
  /** The text that names a resource; the id itself where nothing better does. */
  refer(id: Uuid, collections: readonly TypeWord[]): string;
  secret(value: Json, path: readonly string[]): Json;
}

/** A resource as a seed document writes it, but for its name, its id and what is below it. */
export function formOf(record: StoredResource, options: FormOptions): JsonObject {
  const { description, tags, variables } = record;
  const properties = propertiesOf(record, options);
  const entitlements = entriesOf(record.grants, (id) => options.refer(id, identityWords));
  return {
    ...(description !== undefined && { description }),
    ...(typeOf(record).subTypes && { resource_type: fullNameOf(record.type, options.typePrefix) }),
    ...(tags && { tags }),
    ...(variables && { variables }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(entitlements.length > 0 && { entitlements }),
  };
}

function propertiesOf(record: StoredResource, { refer, secret }: FormOptions): JsonObject {
  const type = typeOf(record);
  const defaults = defaultsOf(type);
  const written = Object.entries(record.properties).filter(
    ([name, value]) => !type.serverSet.includes(name) && !isDeepStrictEqual(value, memberOf(defaults, name)),
  );
  const named = replaceReferences(type.collection, Object.fromEntries(written), (text, collections) =>
    isUuid(text) ? refer(text.toLowerCase(), collections) : LITERAL + text,
  );
  const properties = replaceSecrets(type, named, secret);
  const { code } = properties;
  if (type.collection !== 'lambdas' || typeof code !== 'string') return properties;
  const source = decodeText(code); // D-056
  // A source that could be read as another one's encoding has to stay encoded.
  return decodeText(source) === source ? { ...properties, code: source } : properties;
}

const knownDefaults = new Map<ResourceType, JsonObject>();

/** Values that a type stores for missing properties; containers and jobs do so (D-045). */
function defaultsOf(type: ResourceType): JsonObject {
  const cachedDefaults = knownDefaults.get(type);
  if (cachedDefaults) return cachedDefaults;
  // Not the effective defaults of a schema, such as a lambda's `public`: they are never stored (D-027).
  const defaults = Object.fromEntries(
    Object.entries(shapeOf(type.properties)).flatMap(([name, schema]) => {
      const { type: kind, defaultValue } = schema._zod.def as { type: string; defaultValue?: Json };
      return kind === 'default' && defaultValue !== undefined ? [[name, defaultValue] as const] : [];
    }),
  );
  knownDefaults.set(type, defaults);
  return defaults;
}
