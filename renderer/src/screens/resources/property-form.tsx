import { type ReactNode, useMemo, useState } from 'react';
import { stepTo } from '../../../../server/model/patch/pointer.ts';
import { counted } from '../../components/amounts.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { useSteady } from '../../use-steady.ts';
import { FormContext, type FormContextValue } from './form-context.ts';
import { conditionOf, conditionValueIn, isLeading, labelOf, sortedForForm, withMember } from './property-facts.ts';
import type { Editable } from './resource-patch.ts';
import { SchemaField } from './schema-field.tsx';
import { isSame } from './three-way-merge.ts';
import type { Schema } from './use-type-schema.ts';

export interface PropertyFormProps extends Omit<FormContextValue, 'isNew'> {
  schema: Schema | undefined;
  /** Full name of the type, where it has sub-types; undefined while none is chosen. */
  subType: string | undefined;
  value: Editable;
  /** The old values, to mark changes; undefined for a new resource. */
  before?: Editable | undefined;
  onChange(value: Editable): void;
}

const TEXT: Schema = { type: 'string' };

export function PropertyForm({ schema, subType, value, before, onChange, placeId, errors }: PropertyFormProps) {
  // While the optional properties are expanded, they stay in place, so that a field keeps the focus when it gets a value.
  const [expandedNames, setExpandedNames] = useState<readonly string[]>([]);
  const isNew = before === undefined;
  const context = useMemo(() => ({ placeId, isNew, errors }), [placeId, isNew, errors]);
  const set = useSteady((name: string, next: unknown) =>
    onChange({ ...value, properties: withMember(schema ?? {}, value.properties, name, next) }),
  );
  const setOwn = useSteady((name: string, next: unknown) => {
    const emptyValue = name === 'name' ? '' : undefined;
    onChange(withMember({}, { ...value }, name, next ?? emptyValue) as unknown as Editable); // a text in place of a text
  });
  const { properties: schemas = {} } = schema ?? {};
  const siblingProperties = { ...value.properties, resource_type: subType };
  const condition = (name: string) => conditionOf(schemas[name] ?? {}, siblingProperties);
  const names = sortedForForm(schemas).filter((name) => condition(name) !== 'unused' || name in value.properties);
  // A secret that cannot be read back already has a value.
  const isRequired = (name: string) =>
    condition(name) === 'required' ||
    (schema?.required?.includes(name) === true && (isNew || !schemas[name]?.['x-terrarium-secret']));
  const hasError = (name: string) => errors.some(({ pointer }) => pointer.startsWith(`/properties${stepTo(name)}`));
  // Main, set and required properties come first, then the optional ones.
  const isFirst = (name: string) =>
    !expandedNames.includes(name) &&
    (isLeading(schemas[name] ?? {}) ||
      value.properties[name] !== undefined ||
      before?.properties[name] !== undefined ||
      isRequired(name) ||
      hasError(name));
  const rest = names.filter((name) => !isFirst(name));
  const renderOwnField = (name: 'name' | 'description') => (
    <Row name={name} isRequired={name === 'name'} isChanged={before !== undefined && before[name] !== value[name]}>
      <SchemaField
        label={labelOf(name)}
        pointer={stepTo(name)}
        name={name}
        schema={TEXT}
        value={value[name]}
        isRequired={name === 'name'}
        set={setOwn}
      />
    </Row>
  );
  const field = (name: string) => (
    <Row
      key={name}
      name={name}
      label={labelOf(name, schemas[name])}
      isRequired={isRequired(name)}
      isChanged={before !== undefined && !isSame(before.properties[name], value.properties[name])}
    >
      <SchemaField
        label={labelOf(name, schemas[name])}
        pointer={`/properties${stepTo(name)}`}
        name={name}
        schema={schemas[name] ?? {}}
        value={value.properties[name]}
        conditionValue={conditionValueIn(value.properties, schemas[name] ?? {})}
        isRequired={isRequired(name)}
        set={set}
      />
    </Row>
  );
  return (
    <FormContext value={context}>
      <div className="flex max-w-3xl flex-col gap-2">
        {renderOwnField('name')}
        {renderOwnField('description')}
        {!schema && <Skeleton label="Loading the form" />}
        {names.filter(isFirst).map(field)}
        {rest.length > 0 && (
          <details className="mt-2" onToggle={({ currentTarget }) => setExpandedNames(currentTarget.open ? rest : [])}>
            <summary className="eyebrow cursor-default py-1">
              {counted(rest.length, 'more property', 'more properties')}
            </summary>
            <div className="mt-2 flex flex-col gap-2">{expandedNames.length > 0 && rest.map(field)}</div>
          </details>
        )}
      </div>
    </FormContext>
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
  const label = props.label ?? labelOf(props.name);
  return (
    <div
      className={`grid grid-cols-[180px_minmax(0,1fr)] gap-x-3 border-l-2 max-sm:grid-cols-[minmax(0,1fr)] pl-2 ${props.isChanged ? 'border-accent' : 'border-transparent'}`}
    >
      <span aria-hidden className="pt-1 text-muted">
        {label}
        {props.isRequired && <span className="text-faint"> *</span>}
        {props.isChanged && <span className="ml-2 text-small text-accent">changed</span>}
        {label.toLowerCase() !== props.name && <code className="block text-small text-faint">{props.name}</code>}
      </span>
      {props.children}
    </div>
  );
}
