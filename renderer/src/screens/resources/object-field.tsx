import type { ComponentType } from 'react';
import { isJsonObject } from '../../../../server/model/json.ts';
import { stepTo } from '../../../../server/model/pointer.ts';
import { type FieldProps, useErrorAt } from './form-context.ts';
import { labelOf, withMember } from './property-facts.ts';
import type { Schema } from './use-type-schema.ts';

export interface ObjectFieldProps extends FieldProps {
  /** Draws a member. */
  Field: ComponentType<FieldProps>;
}

/** The members of an object, small ones side by side; what the schema does not name stays as it is. */
export function ObjectField({ label, pointer, schema, value, onChange, Field }: ObjectFieldProps) {
  const object = isJsonObject(value) ? value : {};
  const error = useErrorAt(pointer, false);
  const members = Object.entries(schema.properties ?? {}).filter(([, one]) => !one['x-terrarium-form']?.isFilledIn);
  return (
    <fieldset aria-label={label} className="grid grid-cols-2 items-start gap-x-3 gap-y-2 border-l border-line pl-3">
      {(schema.description || error) && (
        <div className="col-span-2">
          {schema.description && <p className="text-[11.5px] text-faint">{schema.description}</p>}
          {error && <p className="text-[12px] text-error">{error}</p>}
        </div>
      )}
      {members.map(([name, member]) => {
        const isRequired = schema.required?.includes(name) ?? false;
        return (
          <div key={name} className={`flex min-w-0 flex-col gap-1 ${isSmall(member) ? '' : 'col-span-2'}`}>
            <span aria-hidden className="text-[12px] text-muted">
              {labelOf(name, member)}
              {isRequired && <span className="text-faint"> *</span>}
              {labelOf(name, member).toLowerCase() !== name && (
                <code className="ml-1.5 text-[11px] text-faint">{name}</code>
              )}
            </span>
            <Field
              label={`${label} ${name}`}
              pointer={`${pointer}${stepTo(name)}`}
              schema={member}
              value={object[name]}
              isRequired={isRequired}
              onChange={(next) => {
                const changed = withMember(schema, object, name, next);
                onChange(Object.keys(changed).length === 0 ? undefined : changed);
              }}
            />
          </div>
        );
      })}
    </fieldset>
  );
}

/** Does a member do with half of the width? */
function isSmall({ type, anyOf }: Schema): boolean {
  return (type !== undefined && type !== 'object' && type !== 'array') || anyOf?.some(isSmall) === true;
}
