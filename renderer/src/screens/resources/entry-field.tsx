import type { FormFact } from '../../../../server/model/form-facts.ts';
import { isJsonObject } from '../../../../server/model/json.ts';
import { Select } from '../../parts/fields.tsx';
import { useRecord } from './use-record.ts';

/** Lists whose entries others name. */
type EntryList = NonNullable<FormFact['entryOf']>['list'];

export interface EntryFieldProps {
  label: string;
  description?: string | undefined;
  error?: string | undefined;
  /** Id of the resource that has the list. */
  of: string | undefined;
  list: EntryList;
  value: unknown;
  onChange(value: unknown): void;
}

/** Chooses an exposed port of a container, or an item of a secret. */
export function EntryField({ of, list, value, ...field }: EntryFieldProps) {
  const record = useRecord(of, 'root').data;
  const entries = record?.properties[list];
  const names = (Array.isArray(entries) ? entries : []).flatMap((entry) => nameOf(entry, list) ?? []);
  const name = typeof value === 'string' && value !== '' ? value : undefined;
  if (name !== undefined && !names.includes(name)) names.unshift(name);
  const owner = list === 'items' ? 'secret' : 'container';
  const missing =
    of === undefined
      ? `Choose the ${owner} first.`
      : record && names.length === 0
        ? `${record.name} has no ${list === 'items' ? 'items' : 'named port with expose_endpoint'}.`
        : undefined;
  return (
    <Select
      {...field}
      isLabelHidden
      description={missing ?? field.description}
      isDisabled={names.length === 0}
      options={names.map((one) => ({ id: one, text: one }))}
      value={name}
    />
  );
}

function nameOf(entry: unknown, list: EntryList): string | undefined {
  if (!isJsonObject(entry) || (list === 'port_mappings' && entry.expose_endpoint !== true)) return undefined;
  const name = list === 'items' ? entry.key : entry.name;
  return typeof name === 'string' ? name : undefined;
}
