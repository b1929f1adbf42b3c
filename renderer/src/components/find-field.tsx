import { useRef } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { useSearch } from '../url.ts';
import { FilterField } from './fields.tsx';

export interface FindFieldProps {
  label: string;
  placeholder: string;
  /** The word of the address that it is. Default: `q`. */
  searchParameter?: string;
  /** True if `/` moves the focus to the field. Default: true. */
  hasKey?: boolean;
  className?: string;
}

/** A field that narrows a list; what is typed is in the address. */
export function FindField({ label, searchParameter = 'q', hasKey = true, className = '', ...field }: FindFieldProps) {
  const [search, change] = useSearch();
  const frame = useRef<HTMLDivElement>(null);
  const run = () => frame.current?.querySelector('input')?.focus();
  useKeys(hasKey ? [{ keys: '/', does: label, group: 'Lists', run }] : []);
  return (
    <div ref={frame} className={className}>
      <FilterField
        {...field}
        label={label}
        value={search[searchParameter] ?? ''}
        onChange={(text) => change({ [searchParameter]: text || undefined })}
      />
    </div>
  );
}
