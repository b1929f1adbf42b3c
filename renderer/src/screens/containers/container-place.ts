import { memberOf } from '../../../../server/model/json.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { fqonOf, type PlatformRecord } from '../../api/use-world.ts';

/** The name in a reference such as `properties.parent`; empty when it has none. */
export function referenceName(reference: unknown): string {
  const name = memberOf(reference, 'name');
  return typeof name === 'string' ? name : '';
}

/** Path of a resource below `/meta` under its own word, where what only it has is found. */
export function typedPath(record: PlatformRecord, collection: TypeWord): string {
  return `/${record.org.properties?.fqon ?? fqonOf(record)}/${collection}/${record.id}`;
}
