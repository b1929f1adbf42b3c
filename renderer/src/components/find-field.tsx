import { useRef } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { type Search, useSearch } from '../url.ts';
import { FilterField } from './fields.tsx';

export interface FindFieldProps {
  /** What it does, e.g. `Find containers`. */
  label: string;
  placeholder: string;
  /** The word of the address that it is. Default: `q`. */
  word?: string;
  /** What else of the address changes with it. */
  also?: Search;
  /** Does `/` go to it? Default: yes. */
  hasKey?: boolean;
  className?: string;
}

/** A field that narrows a list; what is typed is in the address. */
export function FindField({ label, word = 'q', also, hasKey = true, className = '', ...field }: FindFieldProps) {
  const [search, change] = useSearch();
  const frame = useRef<HTMLDivElement>(null);
  const run = () => frame.current?.querySelector('input')?.focus();
  useKeys(hasKey ? [{ keys: '/', does: label, group: 'Lists', run }] : []);
  return (
    <div ref={frame} className={className}>
      <FilterField
        {...field}
        label={label}
        value={search[word] ?? ''}
        onChange={(text) => change({ [word]: text || undefined, ...also })}
      />
    </div>
  );
}
