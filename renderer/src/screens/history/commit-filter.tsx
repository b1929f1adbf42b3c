import { useRef } from 'react';
import { useKeys } from '../../keys/use-keys.ts';
import { FilterField } from '../../parts/fields.tsx';
import { useSearch } from '../../url.ts';

/** Narrows the list of commits by words; they are in the address as `find`. */
export function CommitFilter() {
  const [{ find = '' }, change] = useSearch();
  const frame = useRef<HTMLDivElement>(null);
  useKeys([
    { keys: '/', does: 'Find commits', group: 'Lists', run: () => frame.current?.querySelector('input')?.focus() },
  ]);
  return (
    <div ref={frame} className="min-w-32 flex-1">
      <FilterField
        label="Find commits"
        placeholder="Find commits: what, who, path, type or id"
        value={find}
        onChange={(text) => change({ find: text || undefined })}
        className="max-w-lg"
      />
    </div>
  );
}
