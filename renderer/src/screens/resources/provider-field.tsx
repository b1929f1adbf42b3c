import { useQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { isJsonObject } from '../../../../server/model/json.ts';
import { Select } from '../../parts/fields.tsx';
import { FormContext } from './form-context.ts';
import { providersFor } from './references.ts';

export interface ProviderFieldProps {
  label: string;
  /** `?type=` of the list of providers. */
  type: string;
  /** `{id, ...}` */
  value: unknown;
  onChange(value: unknown): void;
  error?: string | undefined;
}

/** Chooses among the providers that the place can use. */
export function ProviderField({ label, type, value, onChange, error }: ProviderFieldProps) {
  const { place } = useContext(FormContext);
  const providers = useQuery({
    ...providersFor(place ?? { word: 'orgs', id: '', fqon: 'root' }, type),
    enabled: place !== undefined,
  }).data;
  const id = isJsonObject(value) && typeof value.id === 'string' ? value.id : undefined;
  const options = (providers ?? []).map((one) => ({
    id: one.id,
    text: one.name,
    note: one.resource_type.replace(/^.*Provider::/, ''),
  }));
  if (id !== undefined && !options.some((option) => option.id === id)) {
    options.unshift({ id, text: isJsonObject(value) && typeof value.name === 'string' ? value.name : id, note: '' });
  }
  return (
    <Select
      label={label}
      isLabelHidden
      options={options}
      value={id}
      onChange={(next) => onChange(isJsonObject(value) && id === next ? value : { id: next })}
      error={error}
      description={providers?.length === 0 ? `There is no provider of type ${type} here yet.` : undefined}
    />
  );
}
