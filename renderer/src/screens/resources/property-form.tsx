import type { ReactNode } from 'react';
import { stepTo } from '../../../../server/model/pointer.ts';
import { TextField } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { FormContext, type FormContextValue, needed, useErrorAt } from './form-context.ts';
import { conditionOf, inFormOrder, isLeading, labelOf, withMember } from './property-facts.ts';
import type { Editable } from './resource-patch.ts';
import { SchemaField } from './schema-field.tsx';
import { isSame } from './three-way-merge.ts';
import type { Schema } from './use-type-schema.ts';

export interface PropertyFormProps extends Omit<FormContextValue, 'properties' | 'isNew'> {
  schema: Schema | undefined;
  value: Editable;
  /** As it was, to mark what is changed; undefined where all is new. */
  before?: Editable | undefined;
  onChange(value: Editable): void;
}

/** A form made from the type's schema: one field a property. */
export function PropertyForm({ schema, value, before, onChange, ...context }: PropertyFormProps) {
  if (!schema) return <Skeleton label="Loading the form" />;
  const { properties: schemas = {} } = schema;
  const set = (name: string, next: unknown) =>
    onChange({ ...value, properties: withMember(schema, value.properties, name, next) });
  const beside = { ...value.properties, resource_type: context.subType };
  const condition = (name: string) => conditionOf(schemas[name] ?? {}, beside);
  const names = inFormOrder(schemas).filter(
    (name) => !schemas[name]?.readOnly && (condition(name) !== 'unused' || name in value.properties),
  );
  // What nobody reads back is there already.
  const isRequired = (name: string) =>
    condition(name) === 'required' ||
    (schema.required?.includes(name) === true && (before === undefined || !schemas[name]?.writeOnly));
  const hasError = (name: string) =>
    context.errors.some(({ pointer }) => pointer.startsWith(`/properties${stepTo(name)}`));
  // What leads, is set, or has to be, comes first, then what could be.
  const isFirst = (name: string) =>
    isLeading(schemas[name] ?? {}) ||
    value.properties[name] !== undefined ||
    before?.properties[name] !== undefined ||
    isRequired(name) ||
    hasError(name);
  const rest = names.filter((name) => !isFirst(name));
  const field = (name: string) => (
    <Row
      key={name}
      name={name}
      label={labelOf(name, schemas[name])}
      isRequired={isRequired(name)}
      isChanged={before !== undefined && !isSame(before.properties[name], value.properties[name])}
    >
      <SchemaField
        label={name}
        pointer={`/properties${stepTo(name)}`}
        schema={schemas[name] ?? {}}
        value={value.properties[name]}
        isRequired={isRequired(name)}
        onChange={(next) => set(name, next)}
      />
    </Row>
  );
  return (
    <FormContext value={{ ...context, properties: value.properties, isNew: before === undefined }}>
      <div className="flex max-w-3xl flex-col gap-2">
        <TextRow
          name="name"
          isRequired
          autoFocus={before === undefined}
          isChanged={before !== undefined && before.name !== value.name}
          value={value.name}
          onChange={(name) => onChange({ ...value, name })}
        />
        <TextRow
          name="description"
          isChanged={before !== undefined && before.description !== value.description}
          value={value.description ?? ''}
          onChange={(description) => {
            if (description !== '') return onChange({ ...value, description });
            const { description: _old, ...others } = value;
            onChange(others);
          }}
        />
        {names.filter(isFirst).map(field)}
        {rest.length > 0 && (
          <details className="mt-2">
            <summary className="eyebrow cursor-default py-1">{rest.length} more that can be set</summary>
            <div className="mt-2 flex flex-col gap-2">{rest.map(field)}</div>
          </details>
        )}
      </div>
    </FormContext>
  );
}

interface TextRowProps {
  name: string;
  /** Of something new it is what one begins with. */
  autoFocus?: boolean;
  isRequired?: boolean;
  isChanged: boolean;
  value: string;
  onChange(value: string): void;
}

function TextRow({ name, value, onChange, autoFocus = false, ...row }: TextRowProps) {
  const error = useErrorAt(stepTo(name));
  return (
    <Row name={name} {...row}>
      <TextField
        label={name}
        isLabelHidden
        {...needed(row.isRequired)}
        autoFocus={autoFocus}
        value={value}
        onChange={onChange}
        error={error}
      />
    </Row>
  );
}

/** A name at the left, its field at the right. */
export function Row(props: {
  name: string;
  label?: string;
  isRequired?: boolean;
  isChanged?: boolean;
  children: ReactNode;
}) {
  const words = props.label ?? labelOf(props.name);
  return (
    <div
      className={`grid grid-cols-[180px_minmax(0,1fr)] gap-3 border-l-2 pl-2 ${props.isChanged ? 'border-accent' : 'border-transparent'}`}
    >
      <span aria-hidden className="pt-1 text-muted">
        {words}
        {props.isRequired && <span className="text-faint"> *</span>}
        {props.isChanged && <span className="ml-2 text-[11px] text-accent">changed</span>}
        {words.toLowerCase() !== props.name && <code className="block text-[11px] text-faint">{props.name}</code>}
      </span>
      {props.children}
    </div>
  );
}
