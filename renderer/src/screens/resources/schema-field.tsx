import { Plus, X } from 'lucide-react';
import { memo, useContext } from 'react';
import { isJsonObject } from '../../../../server/model/json.ts';
import { stepTo } from '../../../../server/model/patch/pointer.ts';
import { referenceId } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { NumberField, Select, Switch, TextField } from '../../components/fields.tsx';
import { useSteady } from '../../use-steady.ts';
import { type FieldProps, FormContext, useErrorAt } from './form-context.ts';
import { conditionValueIn, labelOf, namedBy, targetsOf, withMember } from './property-facts.ts';
import { ProviderField } from './provider-field.tsx';
import { ResourcePicker } from './resource-picker.tsx';
import { SecretField } from './secret-field.tsx';
import { FieldFoot, isTexts, TextMap } from './text-map.tsx';
import type { Schema } from './use-type-schema.ts';
import { CodeField, EntryField, FqonField, JsonField } from './value-fields.tsx';

/** Longer texts are not for a form. */
const MAX_FIELD_CHARS = 5000;
const MAX_CODE_CHARS = 200_000;
/** Longer lists take a browser seconds to draw as fields. */
const MAX_ENTRIES = 200;
/** Choice for no value. */
const NONE = 'not set';

/** The field that fits a schema and a value; JSON in a small field where none does. */
export const SchemaField = memo(function SchemaField(props: FieldProps) {
  const { label, pointer, name, value, conditionValue, isRequired = false, set } = props;
  const { isNew } = useContext(FormContext);
  const schema = alternativeFor(props.schema, value);
  const { description } = schema;
  const error = useErrorAt(pointer);
  const common = { label, isLabelHidden: true, description, error } as const;
  const onChange = (next: unknown) => set(name, next);
  const onText = (next: string) => onChange(next === '' ? undefined : next);

  const { kind, unit, entryOf } = schema['x-terrarium-form'] ?? {};
  if (kind === 'fqon') return <FqonField {...common} value={value} onChange={onChange} />;
  if (entryOf) {
    return (
      <EntryField {...common} resourceId={idOf(conditionValue)} list={entryOf.list} value={value} onChange={onChange} />
    );
  }
  const link = namedBy(schema.properties?.id ?? {});
  if (link && 'word' in link && link.kind) {
    return <ProviderField {...common} type={link.kind} value={value} onChange={onChange} isRequired={isRequired} />;
  }
  const named = namedBy(props.schema);
  if (named) {
    return (
      <ResourcePicker
        label={label}
        isLabelHidden
        collections={targetsOf(named, conditionValue).map(({ word: collection }) => collection)}
        value={idOf(value)}
        onChange={(node) => onChange(node?.id)}
        isClearable={!isRequired}
        error={error}
      />
    );
  }
  const choices = schema.enum ?? (schema.type === 'string' ? schema.examples : undefined);
  const choice = value === undefined ? undefined : choices?.find((candidate) => isSameChoice(candidate, value));
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
      <Switch isSelected={(value ?? schema['x-terrarium-default']) === true} onChange={onChange} aria-label={label}>
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
        isRequired={isRequired}
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
    if (isCode) return <CodeField {...common} value={value} onChange={onChange} />;
    const text = { ...common, isRequired, value: value ?? '', onChange: onText };
    if (schema['x-terrarium-secret'])
      return <SecretField {...text} description={isNew ? description : SECRET_DESCRIPTION} />;
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
    return <ListField {...props} schema={schema} items={schema.items} value={value ?? []} />;
  }
  if (schema.type === 'object' && hasMembers(schema) && (value === undefined || isJsonObject(value))) {
    return <ObjectField {...props} schema={schema} />;
  }
  return <JsonField {...common} value={value} onChange={onChange} />;
});

const SECRET_DESCRIPTION = 'Never shown; the stored value is kept unless you enter a new one';

/** Returns the alternative that a value is written in; the first one for a value that does not exist yet. */
function alternativeFor(schema: Schema, value: unknown): Schema {
  const { anyOf, ...rest } = schema;
  if (!anyOf) return schema;
  const kind = Array.isArray(value) ? 'array' : typeof value;
  const found = value === undefined ? anyOf[0] : anyOf.find(({ type }) => type === kind);
  return found ? { ...rest, ...found } : schema;
}

/** Words may be written in any letter case (D-027). */
function isSameChoice(first: unknown, second: unknown): boolean {
  return String(first).toLowerCase() === String(second).toLowerCase();
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

/** The id in what is written as an id, or as a link; of an empty text none. */
function idOf(value: unknown): string | undefined {
  return referenceId(value) || undefined;
}

/** The members of an object, short ones side by side; members outside the schema do not change. */
function ObjectField({ label, pointer, name, schema, value, set }: FieldProps) {
  const object = isJsonObject(value) ? value : {};
  const error = useErrorAt(pointer, false);
  const members = Object.entries(schema.properties ?? {}).filter(
    ([, memberSchema]) => !memberSchema['x-terrarium-form']?.isFilledIn,
  );
  const setMember = useSteady((member: string, next: unknown) => {
    const changed = withMember(schema, object, member, next);
    set(name, Object.keys(changed).length === 0 ? undefined : changed);
  });
  return (
    <fieldset aria-label={label} className="grid grid-cols-2 items-start gap-x-3 gap-y-2 border-l border-line pl-3">
      {(schema.description || error) && (
        <div className="col-span-2">
          <FieldFoot description={schema.description} error={error} />
        </div>
      )}
      {members.map(([member, itsSchema]) => {
        const memberLabel = labelOf(member, itsSchema);
        const isRequired = schema.required?.includes(member) ?? false;
        return (
          <div key={member} className={`flex min-w-0 flex-col gap-1 ${isSmall(itsSchema) ? '' : 'col-span-2'}`}>
            <span aria-hidden className="text-small text-muted">
              {memberLabel}
              {isRequired && <span className="text-faint"> *</span>}
              {memberLabel.toLowerCase() !== member && <code className="ml-1.5 text-small text-faint">{member}</code>}
            </span>
            <SchemaField
              label={memberLabel}
              pointer={`${pointer}${stepTo(member)}`}
              name={member}
              schema={itsSchema}
              value={object[member]}
              conditionValue={conditionValueIn(object, itsSchema)}
              isRequired={isRequired}
              set={setMember}
            />
          </div>
        );
      })}
    </fieldset>
  );
}

/** Returns true if half of the width is enough for a member. */
function isSmall({ type, anyOf }: Schema): boolean {
  return (type !== undefined && type !== 'object' && type !== 'array') || anyOf?.some(isSmall) === true;
}

interface ListFieldProps extends FieldProps {
  items: Schema;
  value: readonly unknown[];
}

/** A list, entry by entry; words that there are only a few of as switches. */
function ListField({ label, pointer, name, schema, items, value, set }: ListFieldProps) {
  const error = useErrorAt(pointer, false);
  const knownValues = alternativeFor(items, undefined).enum;
  const setAll = (next: readonly unknown[]) => set(name, next.length === 0 ? undefined : next);
  const setEntry = useSteady((index: string, next: unknown) =>
    setAll(value.map((old, at) => (at === Number(index) ? (next ?? emptyOf(items)) : old))),
  );
  if (knownValues && value.every((entry) => knownValues.includes(entry))) {
    return (
      <fieldset aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1">
        {knownValues.map((entry) => (
          <label key={String(entry)} className="flex min-h-6 items-center gap-1.5">
            <input
              type="checkbox"
              className="size-4 accent-(--accent)"
              checked={value.includes(entry)}
              onChange={({ target }) =>
                setAll(
                  knownValues.filter((knownValue) =>
                    knownValue === entry ? target.checked : value.includes(knownValue),
                  ),
                )
              }
            />
            {String(entry)}
          </label>
        ))}
        <FieldFoot description={schema.description} error={error} />
      </fieldset>
    );
  }
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2">
      {value.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have nothing else that tells them apart
        <div key={index} className="grid grid-cols-[minmax(0,1fr)_28px] items-start gap-1.5">
          <SchemaField
            label={`${label} ${index + 1}`}
            pointer={`${pointer}${stepTo(index)}`}
            name={String(index)}
            schema={items.anyOf?.[0] ?? items}
            value={entry}
            isRequired
            set={setEntry}
          />
          <IconButton
            icon={X}
            label={`Remove ${label} ${index + 1}`}
            onPress={() => setAll(value.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <FieldFoot description={schema.description} error={error} />
      <Button
        icon={Plus}
        look="quiet"
        className="self-start"
        aria-label={`Add to ${label}`}
        onPress={() => setAll([...value, emptyOf(items)])}
      >
        Add
      </Button>
    </fieldset>
  );
}

/** A new entry: where a member has to be one of a few words, the first. */
function emptyOf({ type, required = [], properties = {} }: Schema): unknown {
  if (type !== 'object') return '';
  return Object.fromEntries(
    required.flatMap((name) => (properties[name]?.enum?.slice(0, 1) ?? []).map((firstValue) => [name, firstValue])),
  );
}
