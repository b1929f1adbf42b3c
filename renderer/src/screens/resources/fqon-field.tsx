import { fqonOf, type PlatformRecord, useWorld } from '../../api/world.ts';
import { Select, TextField } from '../../parts/fields.tsx';
import { needed } from './form-context.ts';

/** More organizations are not for a list to choose from. */
const MAX_LISTED = 200;

export interface FqonFieldProps {
  label: string;
  description?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
}

/** An organization by its fully qualified name. */
export function FqonField({ value, onChange, ...field }: FqonFieldProps) {
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
