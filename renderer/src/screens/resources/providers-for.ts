import { useMemo } from 'react';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import type { Option } from '../../parts/fields.tsx';

/** The place that a resource is in, or will be. */
export interface ParentPlace {
  word: TypeWord;
  id: string;
  fqon: string;
}

/** The providers of a kind that a place can use, to choose from: its own and those above it, whether one may view them or not. */
export function useProviders(placeId: string | undefined, type: string): readonly Required<Option>[] | undefined {
  const { data } = useRead(
    keys.world,
    `/inspect/tree/${placeId}/providers`,
    { type },
    { enabled: placeId !== undefined },
  );
  return useMemo(
    () => data?.rows.map((one) => ({ id: one.id, text: one.name, note: one.type.replace(/^.*Provider::/, '') })),
    [data],
  );
}
