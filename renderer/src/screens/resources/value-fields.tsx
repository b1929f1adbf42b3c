import { useEffect, useRef, useState } from 'react';
import { reasonOf } from '../../../../server/model/errors.ts';
import { memberOf } from '../../../../server/model/json.ts';
import type { FormFact } from '../../../../server/model/property-facts.ts';
import { fqonOf, type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Select, TextField } from '../../components/fields.tsx';
import { codeOf, sourceOf } from '../lambdas/code-text.ts';
import { isSame } from './three-way-merge.ts';
import { useRecord } from './use-record.ts';

/** A field with a special editor, regardless of the rest of its schema. */
export interface ValueFieldProps {
  label: string;
  isLabelHidden: true;
  description?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
}

const LINES = 12;

/** The source of a lambda to read, however it is stored; it is stored as it was: packed or plain. */
export function CodeField({ value, onChange, ...field }: ValueFieldProps) {
  const source = sourceOf(value);
  const isPacked = value !== undefined && source !== value;
  return (
    <TextField
      {...field}
      isMono
      lines={LINES}
      spellCheck="false"
      description={isPacked ? 'Stored as base64, shown as source' : undefined}
      value={source}
      onChange={(next) => {
        // A source that looks like base64 would be taken for it.
        const isSafe = !isPacked && sourceOf(next) === next;
        onChange(next === '' ? undefined : isSafe ? next : codeOf(next));
      }}
    />
  );
}

/** More organizations are not for a list to choose from. */
const MAX_LISTED = 200;

export function FqonField({ value, onChange, ...field }: ValueFieldProps) {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data ?? [];
  const fqon = typeof value === 'string' && value !== '' ? value : undefined;
  if (orgs.length > MAX_LISTED) {
    const onText = (next: string) => onChange(next === '' ? undefined : next);
    return <TextField {...field} value={fqon ?? ''} onChange={onText} />;
  }
  const names = orgs.map(fqonOf);
  const options = fqon === undefined || names.includes(fqon) ? names : [fqon, ...names];
  return (
    <Select {...field} options={options.map((name) => ({ id: name, text: name }))} value={fqon} onChange={onChange} />
  );
}

/** Lists whose entries others name. */
type EntryList = NonNullable<FormFact['entryOf']>['list'];

interface EntryFieldProps extends ValueFieldProps {
  /** Id of the resource that has the list. */
  resourceId: string | undefined;
  list: EntryList;
}

/** Chooses an exposed port of a container, or an item of a secret. */
export function EntryField({ resourceId, list, value, ...field }: EntryFieldProps) {
  const record = useRecord(resourceId, 'root').data;
  const entries = record?.properties[list];
  const names = (Array.isArray(entries) ? entries : []).flatMap((entry) => nameOf(entry, list) ?? []);
  const name = typeof value === 'string' && value !== '' ? value : undefined;
  if (name !== undefined && !names.includes(name)) names.unshift(name);
  const [owner, inside] = list === 'items' ? ['secret', 'items'] : ['container', 'named port with expose_endpoint'];
  const missing =
    resourceId === undefined
      ? `Choose the ${owner} first.`
      : record && names.length === 0
        ? `${record.name} has no ${inside}.`
        : undefined;
  return (
    <Select
      {...field}
      description={missing ?? field.description}
      isDisabled={names.length === 0}
      options={names.map((entryName) => ({ id: entryName, text: entryName }))}
      value={name}
    />
  );
}

function nameOf(entry: unknown, list: EntryList): string | undefined {
  if (list === 'port_mappings' && memberOf(entry, 'expose_endpoint') !== true) return undefined;
  const name = memberOf(entry, list === 'items' ? 'key' : 'name');
  return typeof name === 'string' ? name : undefined;
}

const MAX_LINES = 10;

/** Any value: JSON in a small field, taken while it can be read. */
export function JsonField({ description = 'JSON', error, value, onChange, ...field }: ValueFieldProps) {
  const [text, setText] = useState(() => printed(value));
  const [fault, setFault] = useState<string>();
  const reportedValue = useRef(value);
  // A value from elsewhere, such as a discarded change.
  useEffect(() => {
    if (isSame(reportedValue.current, value)) return;
    reportedValue.current = value;
    setText(printed(value));
    setFault(undefined);
  }, [value]);
  const take = (next: string) => {
    setText(next);
    try {
      reportedValue.current = next.trim() === '' ? undefined : JSON.parse(next);
      setFault(undefined);
      onChange(reportedValue.current);
    } catch (thrown) {
      setFault(reasonOf(thrown));
    }
  };
  const lines = Math.min(MAX_LINES, Math.max(1, text.split('\n').length));
  return (
    <TextField
      {...field}
      description={description}
      error={fault ?? error}
      isMono
      lines={lines}
      value={text}
      onChange={take}
    />
  );
}

function printed(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
