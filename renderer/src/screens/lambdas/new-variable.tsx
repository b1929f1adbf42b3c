import { Plus } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/fields.tsx';

/** What the platform takes as a name (D-110). */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** A line to add a variable with. */
export function NewVariable({
  taken,
  onAdd,
}: {
  taken: ReadonlySet<string>;
  onAdd(name: string, value: string): void;
}) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const fault =
    name === ''
      ? undefined
      : taken.has(name)
        ? 'the lambda has it already; change it below'
        : NAME.test(name)
          ? undefined
          : 'is no name for a variable: letters, digits and _ . -, not a digit first';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name === '' || fault) return;
    onAdd(name, value);
    setName('');
    setValue('');
    form.current?.querySelector('input')?.focus();
  };
  return (
    <form
      ref={form}
      aria-label="Add a variable"
      onSubmit={submit}
      className="grid grid-cols-[30%_minmax(0,1fr)_auto] items-start gap-2 border-b border-line px-4 py-1.5"
    >
      <TextField
        label="Name of a new variable"
        isLabelHidden
        isMono
        placeholder="NAME"
        value={name}
        onChange={setName}
        error={fault}
      />
      <TextField
        label="Value of the new variable"
        isLabelHidden
        isMono
        placeholder="value"
        value={value}
        onChange={setValue}
      />
      <Button icon={Plus} type="submit" isDisabled={name === '' || fault !== undefined}>
        Add
      </Button>
    </form>
  );
}
