import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { referencesOf } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';

/** How the store finds its way in a world of this platform's types. */
export const indexing = {
  wordOf: (type: string): TypeWord => typeOf({ type }).word,
  /** What a record names: in its properties, and as identities of its entitlements. */
  references: (record: StoredResource): readonly Uuid[] => [
    ...referencesOf(record),
    ...Object.values(record.grants ?? {}).flatMap(({ add = [], remove = [] }) => [...add, ...remove]),
  ],
};
