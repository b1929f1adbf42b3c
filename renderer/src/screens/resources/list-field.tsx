import { Plus, X } from 'lucide-react';
import type { ComponentType } from 'react';
import { stepTo } from '../../../../server/model/pointer.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { type FieldProps, useErrorAt } from './form-context.ts';
import type { Schema } from './use-type-schema.ts';

export interface ListFieldProps extends Omit<FieldProps, 'value'> {
  items: Schema;
  value: readonly unknown[];
  /** Draws an entry. */
  Field: ComponentType<FieldProps>;
}

/** A list, entry by entry; words that there are only a few of as switches. */
export function ListField({ label, pointer, schema, items, value, onChange, Field }: ListFieldProps) {
  const error = useErrorAt(pointer, false);
  const words = items.enum ?? items.examples;
  const set = (next: readonly unknown[]) => onChange(next.length === 0 ? undefined : next);
  if (words && value.every((entry) => words.includes(entry))) {
    return (
      <fieldset aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1">
        {words.map((entry) => (
          <label key={String(entry)} className="flex min-h-6 items-center gap-1.5">
            <input
              type="checkbox"
              className="size-4 accent-(--accent)"
              checked={value.includes(entry)}
              onChange={({ target }) =>
                set(words.filter((one) => (one === entry ? target.checked : value.includes(one))))
              }
            />
            {String(entry)}
          </label>
        ))}
        <Foot description={schema.description} error={error} />
      </fieldset>
    );
  }
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2">
      {value.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have nothing else that tells them apart
        <div key={index} className="grid grid-cols-[minmax(0,1fr)_28px] items-start gap-1.5">
          <Field
            label={`${label} ${index + 1}`}
            pointer={`${pointer}${stepTo(index)}`}
            schema={items.anyOf?.[0] ?? items}
            value={entry}
            isRequired
            onChange={(next) => set(value.map((old, at) => (at === index ? (next ?? emptyOf(items)) : old)))}
          />
          <IconButton
            icon={X}
            label={`Remove ${label} ${index + 1}`}
            onPress={() => set(value.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Foot description={schema.description} error={error} />
      <Button
        icon={Plus}
        look="quiet"
        className="self-start"
        aria-label={`Add to ${label}`}
        onPress={() => set([...value, emptyOf(items)])}
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
    required.flatMap((name) => (properties[name]?.enum?.slice(0, 1) ?? []).map((word) => [name, word])),
  );
}

function Foot({ description, error }: { description: string | undefined; error: string | undefined }) {
  return (
    <>
      {description && <p className="w-full text-[11.5px] text-faint">{description}</p>}
      {error && <p className="w-full text-[12px] text-error">{error}</p>}
    </>
  );
}
