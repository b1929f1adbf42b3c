import { useEffect, useRef, useState } from 'react';
import { reasonOf } from '../../../../server/model/reason.ts';
import { TextField } from '../../parts/fields.tsx';
import { isSame } from './three-way-merge.ts';

export interface JsonFieldProps {
  label: string;
  description?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
}

const MAX_LINES = 10;

/** Any value: JSON in a small field, taken while it can be read. */
export function JsonField({ label, description, error, value, onChange }: JsonFieldProps) {
  const [text, setText] = useState(() => printed(value));
  const [fault, setFault] = useState<string>();
  const sent = useRef(value);
  // A value from elsewhere, such as a discarded change.
  useEffect(() => {
    if (isSame(sent.current, value)) return;
    sent.current = value;
    setText(printed(value));
    setFault(undefined);
  }, [value]);
  const take = (next: string) => {
    setText(next);
    try {
      sent.current = next.trim() === '' ? undefined : JSON.parse(next);
      setFault(undefined);
      onChange(sent.current);
    } catch (thrown) {
      setFault(reasonOf(thrown));
    }
  };
  const lines = Math.min(MAX_LINES, Math.max(1, text.split('\n').length));
  return (
    <TextField
      label={label}
      isLabelHidden
      description={description ?? 'JSON'}
      error={fault ?? error}
      isMono
      lines={lines}
      value={text}
      onChange={take}
    />
  );
}

function printed(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
