import { useContext, useEffect, useRef } from 'react';
import { isJsonObject } from '../../../../server/model/json.ts';
import { Select } from '../../parts/fields.tsx';
import { FormContext } from './form-context.ts';
import { useProviders } from './providers-for.ts';

/** Stands among the choices for none of them. */
const NONE = 'none';

export interface ProviderFieldProps {
  label: string;
  /** `?type=` of the list of providers. */
  type: string;
  /** `{id, ...}` */
  value: unknown;
  onChange(value: unknown): void;
  error?: string | undefined;
  isRequired: boolean;
}

/** Chooses among the providers that the place can use. */
export function ProviderField({ label, type, value, onChange, error, isRequired }: ProviderFieldProps) {
  const { place, isNew } = useContext(FormContext);
  const providers = useProviders(place?.id, type);
  const id = isJsonObject(value) && typeof value.id === 'string' ? value.id : undefined;
  // Where there is no choice there is nothing to ask.
  const only = isNew && isRequired && value === undefined && providers?.length === 1 ? providers[0]?.id : undefined;
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (only !== undefined) latest.current({ id: only });
  }, [only]);
  const options = [...(providers ?? [])];
  if (id !== undefined && !options.some((option) => option.id === id)) {
    options.unshift({ id, text: isJsonObject(value) && typeof value.name === 'string' ? value.name : id, note: '' });
  }
  return (
    <Select
      label={label}
      isLabelHidden
      options={isRequired ? options : [...options, { id: NONE, text: 'not set', note: 'the server chooses' }]}
      value={id}
      onChange={(next) => onChange(next === NONE ? undefined : id === next ? value : { id: next })}
      error={error}
      description={providers?.length === 0 ? `There is no provider of type ${type} here yet.` : undefined}
    />
  );
}
