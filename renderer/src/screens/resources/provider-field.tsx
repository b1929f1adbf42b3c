import { useContext, useEffect, useEffectEvent, useMemo } from 'react';
import { memberOf } from '../../../../server/model/json.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { referenceId } from '../../api/use-world.ts';
import { type Option, Select } from '../../components/fields.tsx';
import { FormContext } from './form-context.ts';
import type { ValueFieldProps } from './value-fields.tsx';

/** Choice for no value. */
const NONE = 'none';

export interface ProviderFieldProps extends ValueFieldProps {
  /** `?type=` of the list of providers. */
  type: string;
  isRequired: boolean;
}

export function ProviderField({ type, value, onChange, isRequired, ...field }: ProviderFieldProps) {
  const { placeId, isNew } = useContext(FormContext);
  const providers = useProviders(placeId, type);
  const id = referenceId(value);
  // Where there is no choice there is nothing to ask.
  const onlyProviderId =
    isNew && isRequired && value === undefined && providers?.length === 1 ? providers[0]?.id : undefined;
  const choose = useEffectEvent(onChange);
  useEffect(() => {
    if (onlyProviderId !== undefined) choose({ id: onlyProviderId });
  }, [onlyProviderId]);
  const options = [...(providers ?? [])];
  if (id !== undefined && !options.some((option) => option.id === id)) {
    options.unshift({ id, text: String(memberOf(value, 'name') ?? id), note: '' });
  }
  return (
    <Select
      {...field}
      options={isRequired ? options : [...options, { id: NONE, text: 'not set', note: 'the server chooses' }]}
      value={id}
      onChange={(next) => onChange(next === NONE ? undefined : id === next ? value : { id: next })}
      description={providers?.length === 0 ? `No provider of type ${type} is available here yet.` : undefined}
    />
  );
}

export interface ProviderChoiceProps {
  providers: readonly Option[] | undefined;
  value: string | undefined;
  onChange(id: string): void;
  /** The error if there are none. */
  noneText: string;
}

/** A choice for the provider of a new resource; nothing if there is exactly one. */
export function ProviderChoice({ providers, value, onChange, noneText }: ProviderChoiceProps) {
  if (!providers || providers.length === 1) return null;
  const error = providers.length === 0 ? noneText : undefined;
  return <Select label="Provider" options={providers} value={value} onChange={onChange} error={error} />;
}

/** The providers of a kind that a place can use, to choose from: from the resource and its ancestors, including those that the user may not view. */
export function useProviders(placeId: string | undefined, type: string): readonly Required<Option>[] | undefined {
  const isKnown = placeId !== undefined;
  const { data } = useRead(keys.world, `/inspect/tree/${placeId}/providers`, { type }, { enabled: isKnown });
  return useMemo(
    () =>
      data?.rows.map((provider) => ({
        id: provider.id,
        text: provider.name,
        note: provider.type.replace(/^.*Provider::/, ''),
      })),
    [data],
  );
}
