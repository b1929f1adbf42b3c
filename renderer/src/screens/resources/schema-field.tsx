import { useContext, useEffect, useRef, useState } from 'react';
import type { FormFact } from '../../../../server/model/form-facts.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../../../server/model/json.ts';
import { segmentsOf } from '../../../../server/model/pointer.ts';
import { reasonOf } from '../../../../server/model/reason.ts';
import { fqonOf, type PlatformRecord, useWorld } from '../../api/world.ts';
import { NumberField, Select, Switch, TextField } from '../../parts/fields.tsx';
import { codeOf, sourceOf } from '../lambdas/code-text.ts';
import { type FieldProps, FormContext, needed, useErrorAt } from './form-context.ts';
import { ListField } from './list-field.tsx';
import { ObjectField } from './object-field.tsx';
import { namedBy, targetsOf } from './property-facts.ts';
import { ProviderField } from './provider-field.tsx';
import { ResourcePicker } from './resource-picker.tsx';
import { SecretField } from './secret-field.tsx';
import { isTexts, TextMap } from './text-map.tsx';
import { isSame } from './three-way-merge.ts';
import { useRecord } from './use-record.ts';
import type { Schema } from './use-type-schema.ts';

/** Longer texts are not for a form. */
const MAX_FIELD_CHARS = 5000;
const MAX_CODE_CHARS = 200_000;
/** Longer lists take a browser seconds to draw as fields. */
const MAX_ENTRIES = 200;
/** Stands in a list of choices for none of them. */
const NONE = 'not set';

/** The field that fits a schema and a value; JSON in a small field where none does. */
export function SchemaField(props: FieldProps) {
  const { label, pointer, value, onChange, isRequired = false } = props;
  const { properties, isNew } = useContext(FormContext);
  const error = useErrorAt(pointer);
  const schema = alternativeFor(props.schema, value);
  const description = [schema.description, defaultText(schema)].filter(Boolean).join('; ') || undefined;
  const common = { label, isLabelHidden: true, description, error };

  const { kind, unit, entryOf } = schema['x-terrarium-form'] ?? {};
  if (kind === 'fqon') return <FqonField {...common} value={value} onChange={onChange} />;
  if (entryOf) {
    const owner = besideOf(pointer, properties)?.[entryOf.property];
    return <EntryField {...common} of={idOf(owner)} list={entryOf.list} value={value} onChange={onChange} />;
  }
  const link = namedBy(schema.properties?.id ?? {});
  if (link && 'word' in link && link.kind) {
    return (
      <ProviderField
        label={label}
        type={link.kind}
        value={value}
        onChange={onChange}
        error={error}
        isRequired={isRequired}
      />
    );
  }
  const named = namedBy(props.schema);
  if (named) {
    return (
      <ResourcePicker
        label={label}
        isLabelHidden
        words={targetsOf(named, properties).map(({ word }) => word)}
        value={idOf(value)}
        onChange={(node) => onChange(node?.id)}
        isClearable={!isRequired}
        error={error}
      />
    );
  }
  const choices = schema.enum ?? (schema.type === 'string' ? schema.examples : undefined);
  const choice = value === undefined ? undefined : choices?.find((one) => isSameChoice(one, value));
  if (choices && (value === undefined || choice !== undefined)) {
    const options = choices.map((entry) => ({ id: String(entry), text: String(entry) }));
    return (
      <Select
        {...common}
        options={isRequired ? options : [...options, { id: NONE, text: NONE }]}
        value={choice === undefined ? undefined : String(choice)}
        onChange={(next) => onChange(next === NONE ? undefined : next)}
      />
    );
  }
  if (schema.type === 'boolean' && (value === undefined || typeof value === 'boolean')) {
    return (
      <Switch isSelected={(value ?? schema.default) === true} onChange={onChange} aria-label={label}>
        <span className={error ? 'text-error' : 'text-muted'}>
          {error ?? description ?? (value === undefined ? 'not set' : value ? 'yes' : 'no')}
        </span>
      </Switch>
    );
  }
  if ((schema.type === 'integer' || schema.type === 'number') && (value === undefined || typeof value === 'number')) {
    return (
      <NumberField
        {...common}
        {...needed(isRequired)}
        {...(unit && { unit })}
        value={value ?? Number.NaN}
        onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)}
        formatOptions={{ useGrouping: false, maximumFractionDigits: 6 }}
      />
    );
  }
  if (schema.type === 'string' && (value === undefined || typeof value === 'string')) {
    const isCode = kind === 'code';
    if (value !== undefined && value.length > (isCode ? MAX_CODE_CHARS : MAX_FIELD_CHARS)) {
      return <p className="pt-1 text-muted">{value.length.toLocaleString('en')} characters: see JSON.</p>;
    }
    if (isCode) return <CodeField label={label} error={error} value={value} onChange={onChange} />;
    const text = {
      ...common,
      ...needed(isRequired),
      value: value ?? '',
      onChange: (next: string) => onChange(next === '' ? undefined : next),
    };
    if (schema.writeOnly) return <SecretField {...text} description={isNew ? description : KEPT} />;
    return <TextField {...text} {...(value?.includes('\n') && { lines: 8, isMono: true })} />;
  }
  const entries = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
  if (entries > MAX_ENTRIES) {
    return <p className="pt-1 text-muted">{entries.toLocaleString('en')} entries: see JSON.</p>;
  }
  if (isTextMap(schema) && (value === undefined || isTexts(value))) {
    return (
      <TextMap
        label={label}
        value={value ?? {}}
        onChange={onChange}
        error={error}
        description={schema.description}
        isAllSecret={kind === 'concealed'}
      />
    );
  }
  if (
    schema.type === 'array' &&
    schema.items &&
    hasForm(schema.items) &&
    (value === undefined || Array.isArray(value))
  ) {
    return <ListField {...props} items={schema.items} value={value ?? []} Field={SchemaField} />;
  }
  if (schema.type === 'object' && hasMembers(schema) && (value === undefined || isJsonObject(value))) {
    return <ObjectField {...props} value={value} Field={SchemaField} />;
  }
  return <JsonField {...common} value={value} onChange={onChange} />;
}

const KEPT = 'Never shown; what is stored is kept unless you write another';

/** Of several ways to write a value the one that it is written in; the first for one that is not there yet. */
function alternativeFor(schema: Schema, value: unknown): Schema {
  const { anyOf, ...rest } = schema;
  if (!anyOf) return schema;
  const kind = Array.isArray(value) ? 'array' : typeof value;
  const found = value === undefined ? anyOf[0] : anyOf.find(({ type }) => type === kind);
  return found ? { ...rest, ...found } : schema;
}

function defaultText({ default: value }: Schema): string | undefined {
  const isShort = (typeof value === 'string' && value !== '') || typeof value === 'number';
  return isShort ? `${value} unless given` : undefined;
}

/** Words may be written in any letter case (D-027). */
function isSameChoice(one: unknown, other: unknown): boolean {
  return String(one).toLowerCase() === String(other).toLowerCase();
}

function hasMembers({ properties }: Schema): boolean {
  return properties !== undefined && Object.keys(properties).length > 0;
}

/** Can a list of these be edited entry by entry? */
function hasForm(items: Schema): boolean {
  if (items.anyOf) return true; // ids or links: written as ids
  return items.type === 'string' || (items.type === 'object' && hasMembers(items));
}

function isTextMap({ type, additionalProperties, properties }: Schema): boolean {
  if (type !== 'object' || properties) return false;
  return typeof additionalProperties === 'object' && additionalProperties.type === 'string';
}

/** The object, somewhere in the properties, that has the member at a pointer. */
function besideOf(pointer: string, properties: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const above = segmentsOf(pointer).slice(1, -1);
  const found = above.reduce<Json | undefined>(
    (at, segment) => (Array.isArray(at) ? at[Number(segment)] : memberOf(at, segment)),
    properties as JsonObject, // a record is JSON
  );
  return isJsonObject(found) ? found : undefined;
}

/** The id in what is written as an id, or as a link; of an empty text none. */
function idOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return isJsonObject(value) && typeof value.id === 'string' ? value.id : undefined;
}

/** A field of a kind of its own, whatever the schema says besides. */
interface ValueFieldProps {
  label: string;
  description?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
}

const LINES = 12;

/** The source of a lambda to read, however it is stored; it is stored as it was: packed or plain. */
function CodeField({ value = '', onChange, ...field }: ValueFieldProps & { value: string | undefined }) {
  const source = sourceOf(value);
  const isPacked = source !== value;
  return (
    <TextField
      {...field}
      isLabelHidden
      isMono
      lines={LINES}
      spellCheck="false"
      description={isPacked ? 'Stored as base64; shown as the source that it is' : undefined}
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

/** An organization by its fully qualified name. */
function FqonField({ value, onChange, ...field }: ValueFieldProps) {
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data ?? [];
  const fqon = typeof value === 'string' && value !== '' ? value : undefined;
  if (orgs.length > MAX_LISTED) {
    return (
      <TextField
        {...field}
        {...needed(false)}
        isLabelHidden
        value={fqon ?? ''}
        onChange={(next) => onChange(next === '' ? undefined : next)}
      />
    );
  }
  const known = orgs.map(fqonOf);
  const options = fqon === undefined || known.includes(fqon) ? known : [fqon, ...known];
  return (
    <Select
      {...field}
      isLabelHidden
      options={options.map((one) => ({ id: one, text: one }))}
      value={fqon}
      onChange={onChange}
    />
  );
}

/** Lists whose entries others name. */
type EntryList = NonNullable<FormFact['entryOf']>['list'];

interface EntryFieldProps extends ValueFieldProps {
  /** Id of the resource that has the list. */
  of: string | undefined;
  list: EntryList;
}

/** Chooses an exposed port of a container, or an item of a secret. */
function EntryField({ of, list, value, ...field }: EntryFieldProps) {
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

const MAX_LINES = 10;

/** Any value: JSON in a small field, taken while it can be read. */
function JsonField({ label, description, error, value, onChange }: ValueFieldProps) {
  const [text, setText] = useState(() => printed(value));
  const [fault, setFault] = useState<string>();
  const sent = useRef(value);
  // A value from elsewhere, such as a discarded change.
  useEffect(() => {
    if (isSame(sent.current, value)) return;
    sent.current = value;
    setText(printed(value));
    setFault(undefined);
  }, [value]);
  const take = (next: string) => {
    setText(next);
    try {
      sent.current = next.trim() === '' ? undefined : JSON.parse(next);
      setFault(undefined);
      onChange(sent.current);
    } catch (thrown) {
      setFault(reasonOf(thrown));
    }
  };
  const lines = Math.min(MAX_LINES, Math.max(1, text.split('\n').length));
  return (
    <TextField
      label={label}
      isLabelHidden
      description={description ?? 'JSON'}
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
