import { useContext } from 'react';
import { isJsonObject } from '../../../../server/model/json.ts';
import { NumberField, Select, Switch, TextField } from '../../parts/fields.tsx';
import { type FieldProps, FormContext, step, useErrorAt } from './form-context.ts';
import { JsonField } from './json-field.tsx';
import { ListField } from './list-field.tsx';
import { ProviderField } from './provider-field.tsx';
import { referenceAt } from './references.ts';
import { ResourcePicker } from './resource-picker.tsx';
import { isTexts, TextMap } from './text-map.tsx';
import type { Schema } from './use-type-schema.ts';

/** Longer texts, such as base64 of a lambda's code, are not for a form. */
const MAX_FIELD_CHARS = 5000;

/** The field that fits a schema and a value; JSON in a small field where none does. */
export function SchemaField(props: FieldProps) {
  const { label, pointer, schema, value, onChange } = props;
  const { word, properties } = useContext(FormContext);
  const error = useErrorAt(pointer);
  const common = { label, isLabelHidden: true, description: schema.description, error };

  const reference = referenceAt(word, pointer, properties);
  if (reference && 'providersOf' in reference) {
    return <ProviderField label={label} type={reference.providersOf} value={value} onChange={onChange} error={error} />;
  }
  if (reference) {
    return (
      <ResourcePicker
        label={label}
        isLabelHidden
        words={reference.words}
        value={idOf(value)}
        onChange={(node) => onChange(node?.id)}
        error={error}
      />
    );
  }
  const choices = schema.enum ?? (schema.type === 'string' ? schema.examples : undefined);
  if (choices && (value === undefined || choices.includes(value))) {
    const options = choices.map((entry) => ({ id: String(entry), text: String(entry) }));
    return (
      <Select
        {...common}
        options={options}
        value={value === undefined ? undefined : String(value)}
        onChange={onChange}
      />
    );
  }
  if (schema.type === 'boolean' && (value === undefined || typeof value === 'boolean')) {
    return (
      <Switch isSelected={value === true} onChange={onChange} aria-label={label}>
        <span className={error ? 'text-error' : 'text-muted'}>
          {error ?? schema.description ?? (value === undefined ? 'not set' : value ? 'yes' : 'no')}
        </span>
      </Switch>
    );
  }
  if ((schema.type === 'integer' || schema.type === 'number') && (value === undefined || typeof value === 'number')) {
    return (
      <NumberField
        {...common}
        value={value ?? Number.NaN}
        onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)}
        formatOptions={{ useGrouping: false, maximumFractionDigits: 6 }}
      />
    );
  }
  if (schema.type === 'string' && (value === undefined || typeof value === 'string')) {
    if (value !== undefined && value.length > MAX_FIELD_CHARS) {
      return <p className="pt-1 text-muted">{value.length.toLocaleString('en')} characters: see JSON.</p>;
    }
    const isLong = pointer === '/properties/code' || value?.includes('\n') === true;
    return (
      <TextField
        {...common}
        {...(isLong && { lines: 8, isMono: true })}
        type={schema.writeOnly ? 'password' : 'text'}
        {...(schema.writeOnly && { autoComplete: 'new-password' })}
        value={value ?? ''}
        onChange={(next) => onChange(next === '' ? undefined : next)}
      />
    );
  }
  if (isTextMap(schema) && (value === undefined || isTexts(value))) {
    return <TextMap label={label} value={value ?? {}} onChange={onChange} error={error} />;
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
    return <ObjectField {...props} value={value} />;
  }
  return <JsonField {...common} value={value} onChange={onChange} />;
}

/** The members of an object, one below the other; what the schema does not name stays as it is. */
function ObjectField({ label, pointer, schema, value, onChange }: FieldProps) {
  const object = isJsonObject(value) ? value : {};
  const error = useErrorAt(pointer, false);
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2 border-l border-line pl-3">
      {error && <p className="text-[12px] text-error">{error}</p>}
      {Object.entries(schema.properties ?? {}).map(([name, member]) => (
        <div key={name} className="flex flex-col gap-1">
          <span aria-hidden className="text-[12px] text-muted">
            {name}
            {schema.required?.includes(name) && <span className="text-faint"> *</span>}
          </span>
          <SchemaField
            label={`${label} ${name}`}
            pointer={`${pointer}${step(name)}`}
            schema={member}
            value={object[name]}
            onChange={(next) => {
              const { [name]: _old, ...rest } = object;
              const changed = next === undefined ? rest : { ...rest, [name]: next };
              onChange(Object.keys(changed).length === 0 ? undefined : changed);
            }}
          />
        </div>
      ))}
    </fieldset>
  );
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

/** The id in what is written as an id, or as a link. */
function idOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value.id === 'string' ? value.id : undefined;
}
