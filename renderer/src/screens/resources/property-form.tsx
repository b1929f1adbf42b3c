import { Plus, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../../parts/button.tsx';
import { NumberField, Select, Switch, TextField } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { Editable } from './resource-patch.ts';
import type { Schema } from './use-type-schema.ts';

export interface PropertyFormProps {
  schema: Schema | undefined;
  value: Editable;
  /** As it was, to mark what is changed. */
  before: Editable;
  onChange(value: Editable): void;
}

/** Longer texts, such as base64 of a lambda's code, are not for a form. */
const MAX_FIELD_CHARS = 500;

/** A form made from the type's schema: one field a property. */
export function PropertyForm({ schema, value, before, onChange }: PropertyFormProps) {
  if (!schema) return <Skeleton label="Loading the form" />;
  const set = (name: string, next: unknown) => {
    const { [name]: _old, ...rest } = value.properties;
    onChange({ ...value, properties: next === undefined ? rest : { ...rest, [name]: next } });
  };
  const names = Object.entries(schema.properties ?? {})
    .filter(([, { readOnly }]) => !readOnly)
    .map(([name]) => name);
  // What is set comes first, then what could be.
  const isSet = (name: string) => value.properties[name] !== undefined || schema.required?.includes(name) === true;
  const unset = names.filter((name) => !isSet(name));
  const field = (name: string) => (
    <Row
      key={name}
      name={name}
      isRequired={schema.required?.includes(name) ?? false}
      isChanged={JSON.stringify(before.properties[name]) !== JSON.stringify(value.properties[name])}
    >
      <Field
        name={name}
        schema={schema.properties?.[name] ?? {}}
        value={value.properties[name]}
        onChange={(next) => set(name, next)}
      />
    </Row>
  );
  return (
    <div className="flex max-w-3xl flex-col gap-2 p-4">
      <Row name="name" isRequired isChanged={before.name !== value.name}>
        <TextField label="name" isLabelHidden value={value.name} onChange={(name) => onChange({ ...value, name })} />
      </Row>
      <Row name="description" isChanged={before.description !== value.description}>
        <TextField
          label="description"
          isLabelHidden
          value={value.description ?? ''}
          onChange={(description) => {
            const { description: _old, ...rest } = value;
            onChange(description === '' ? rest : { ...rest, description });
          }}
        />
      </Row>
      {names.filter(isSet).map(field)}
      {unset.length > 0 && (
        <details className="mt-2">
          <summary className="eyebrow cursor-default py-1">{unset.length} more that are not set</summary>
          <div className="mt-2 flex flex-col gap-2">{unset.map(field)}</div>
        </details>
      )}
    </div>
  );
}

function Row(props: { name: string; isRequired?: boolean; isChanged: boolean; children: ReactNode }) {
  return (
    <div
      className={`grid grid-cols-[180px_minmax(0,1fr)] gap-3 border-l-2 pl-2 ${props.isChanged ? 'border-accent' : 'border-transparent'}`}
    >
      <span className="pt-1 text-muted">
        {props.name}
        {props.isRequired && <span className="text-faint"> *</span>}
        {props.isChanged && <span className="ml-2 text-[11px] text-accent">changed</span>}
      </span>
      {props.children}
    </div>
  );
}

interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  onChange(value: unknown): void;
}

function Field({ name, schema, value, onChange }: FieldProps) {
  const common = { label: name, isLabelHidden: true, description: schema.description };
  if (schema.enum) {
    const options = schema.enum.map((entry) => ({ id: String(entry), text: String(entry) }));
    return (
      <Select
        {...common}
        options={options}
        value={value === undefined ? undefined : String(value)}
        onChange={onChange}
      />
    );
  }
  if (schema.type === 'boolean') {
    return (
      <Switch isSelected={value === true} onChange={onChange} aria-label={name}>
        <span className="text-muted">{schema.description ?? (value === true ? 'yes' : 'no')}</span>
      </Switch>
    );
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    const number = typeof value === 'number' ? value : Number.NaN;
    return (
      <NumberField {...common} value={number} onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)} />
    );
  }
  if (schema.type === 'string' && (value === undefined || typeof value === 'string')) {
    if (value !== undefined && value.length > MAX_FIELD_CHARS)
      return <p className="pt-1 text-muted">Long text: see JSON.</p>;
    return <TextField {...common} value={value ?? ''} onChange={(next) => onChange(next === '' ? undefined : next)} />;
  }
  if (isTextMap(schema) && (value === undefined || isTexts(value))) {
    return <TextMap name={name} value={value ?? {}} onChange={onChange} />;
  }
  return <JsonField {...common} value={value} onChange={onChange} />;
}

/** Anything else: JSON in a small field, taken while it can be read. */
function JsonField({
  label,
  description,
  value,
  onChange,
}: {
  label: string;
  description: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
}) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const [error, setError] = useState<string>();
  const take = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setError(undefined);
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    }
  };
  const lines = Math.min(10, Math.max(1, text.split('\n').length));
  return (
    <TextField
      label={label}
      isLabelHidden
      description={description}
      error={error}
      isMono
      lines={lines}
      value={text}
      onChange={take}
    />
  );
}

/** Names and texts, e.g. environment variables. */
function TextMap({
  name,
  value,
  onChange,
}: {
  name: string;
  value: Record<string, string>;
  onChange(value: unknown): void;
}) {
  const entries = Object.entries(value);
  const replace = (index: number, entry: [string, string] | undefined) =>
    onChange(Object.fromEntries(entries.flatMap((old, at) => (at === index ? (entry ? [entry] : []) : [old]))));
  return (
    <div className="flex flex-col gap-1.5">
      {entries.map(([key, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name itself is being edited
        <div key={index} className="grid grid-cols-[2fr_3fr_28px] gap-1.5">
          <TextField
            label={`${name}: name ${index + 1}`}
            isLabelHidden
            isMono
            value={key}
            onChange={(next) => replace(index, [next, text])}
          />
          <TextField
            label={`${name}: value of ${key}`}
            isLabelHidden
            isMono
            value={text}
            onChange={(next) => replace(index, [key, next])}
          />
          <IconButton icon={X} label={`Remove ${key}`} onPress={() => replace(index, undefined)} />
        </div>
      ))}
      <Button
        icon={Plus}
        look="quiet"
        className="self-start"
        onPress={() => onChange({ ...value, [freeName(value)]: '' })}
      >
        Add
      </Button>
    </div>
  );
}

function freeName(value: Record<string, string>): string {
  let name = 'NAME';
  for (let count = 2; Object.hasOwn(value, name); count += 1) name = `NAME_${count}`;
  return name;
}

function isTextMap({ type, additionalProperties }: Schema): boolean {
  return type === 'object' && typeof additionalProperties === 'object' && additionalProperties.type === 'string';
}

function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((entry) => typeof entry === 'string')
  );
}
