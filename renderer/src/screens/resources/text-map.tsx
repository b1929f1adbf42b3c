import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { isSecretName, SecretField } from './secret-field.tsx';

export interface TextMapProps {
  label: string;
  value: Readonly<Record<string, string>>;
  onChange(value: unknown): void;
  error?: string | undefined;
  description?: string | undefined;
  /** Every value is a secret, regardless of its name. */
  isAllSecret?: boolean;
}

/** Names and texts, e.g. environment variables. */
export function TextMap({ label, value, onChange, error, description, isAllSecret = false }: TextMapProps) {
  const entries = Object.entries(value);
  const replace = (index: number, entry: [string, string] | undefined) => {
    const next = entries.flatMap((old, at) => (at === index ? (entry ? [entry] : []) : [old]));
    onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  };
  return (
    <div className="flex flex-col gap-1.5">
      {entries.map(([key, text], index) => {
        const Value = isAllSecret || isSecretName(key) ? SecretField : TextField;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name itself is being edited
          <div key={index} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_28px] gap-1.5">
            <TextField
              label={`${label}: name ${index + 1}`}
              isLabelHidden
              isMono
              value={key}
              onChange={(next) => {
                // Two of a name would be one.
                if (next === key || !Object.hasOwn(value, next)) replace(index, [next, text]);
              }}
            />
            <Value
              label={`${label}: value of ${key}`}
              isLabelHidden
              isMono
              value={text}
              onChange={(next) => replace(index, [key, next])}
            />
            <IconButton icon={X} label={`Remove ${key}`} onPress={() => replace(index, undefined)} />
          </div>
        );
      })}
      <FieldFoot description={description} error={error} />
      <Button
        icon={Plus}
        look="quiet"
        className="self-start"
        aria-label={`Add to ${label}`}
        onPress={() => onChange({ ...value, [unusedName(value)]: '' })}
      >
        Add
      </Button>
    </div>
  );
}

/** The description and the error of several fields together. */
export function FieldFoot({ description, error }: Pick<TextMapProps, 'description' | 'error'>) {
  return (
    <>
      {description && <p className="w-full text-small text-faint">{description}</p>}
      {error && <p className="w-full text-small text-error">{error}</p>}
    </>
  );
}

function unusedName(value: Readonly<Record<string, string>>): string {
  let name = 'NAME';
  for (let count = 2; Object.hasOwn(value, name); count += 1) name = `NAME_${count}`;
  return name;
}

export function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((entry) => typeof entry === 'string')
  );
}
