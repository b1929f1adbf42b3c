import { TextField } from '../../parts/fields.tsx';
import { codeOf, sourceOf } from '../lambdas/code-text.ts';

export interface CodeFieldProps {
  label: string;
  error?: string | undefined;
  value: string | undefined;
  onChange(value: unknown): void;
}

const LINES = 12;

/** The source of a lambda to read, however it is stored; it is stored as it was: packed or plain. */
export function CodeField({ value = '', onChange, ...field }: CodeFieldProps) {
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
