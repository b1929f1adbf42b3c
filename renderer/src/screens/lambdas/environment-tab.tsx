import { Eye, EyeOff, Plus, Save } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { counted } from '../../parts/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Pending } from '../../parts/pending.tsx';
import { toggled } from '../../toggled.ts';
import { variablesOf } from './environment.ts';
import { SaveDialog } from './save-dialog.tsx';
import { useLineage } from './use-lineage.ts';
import { useVariableDraft } from './use-variable-draft.ts';
import { VariableRow } from './variable-row.tsx';

/** The variables that the lambda sees, its own and inherited ones: values on demand, its own ones to be changed. */
export function EnvironmentTab({ lambda }: { lambda: PlatformRecord }) {
  const above = useLineage(lambda);
  const draft = useVariableDraft(lambda);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [isSaving, setSaving] = useState(false);
  if (!above.data) return <Pending query={above} />;
  const variables = variablesOf([lambda, ...above.data]);
  const known = new Set(variables.map(({ name }) => name));
  const fresh = [...draft.changes.keys()].filter((name) => !known.has(name));
  const areAllShown = variables.length > 0 && variables.every(({ name }) => shown.has(name));
  const rowOf = (name: string) => (
    <VariableRow
      key={name}
      lambda={lambda}
      name={name}
      variable={variables.find((one) => one.name === name)}
      draft={draft}
      isShown={shown.has(name)}
      onToggle={() => setShown(toggled(shown, name))}
    />
  );
  return (
    <div>
      <div className="flex min-h-9 items-center gap-2 border-b border-line px-4 py-1">
        <span className="min-w-0 flex-1 text-muted">
          {counted(variables.length, 'variable')}, and the platform's own, such as <code>META_URL</code>
        </span>
        <Button
          icon={areAllShown ? EyeOff : Eye}
          look="quiet"
          isDisabled={variables.length === 0}
          onPress={() => setShown(areAllShown ? new Set() : known)}
        >
          {areAllShown ? 'Hide all' : 'Show all'}
        </Button>
        {draft.changes.size > 0 && (
          <Button look="quiet" onPress={draft.discard}>
            Discard changes
          </Button>
        )}
        <Button
          icon={Save}
          isDisabled={draft.patch.length === 0 || draft.conflicts.length > 0}
          onPress={() => setSaving(true)}
        >
          Save variables
        </Button>
      </div>
      <NewVariable
        taken={new Set([...draft.own.keys(), ...fresh])}
        onAdd={(name, value) => draft.change(name, value)}
      />
      <table className="w-full table-fixed">
        <caption className="sr-only">Environment variables</caption>
        <thead>
          <tr className="h-7 border-b border-line text-left text-[11.5px] text-faint">
            <th className="w-[30%] px-4 font-normal">Name</th>
            <th className="px-2 font-normal">Value</th>
            <th className="w-[24%] px-2 font-normal">From</th>
          </tr>
        </thead>
        <tbody>
          {variables.map(({ name }) => rowOf(name))}
          {fresh.map(rowOf)}
        </tbody>
      </table>
      {isSaving && (
        <SaveDialog
          lambda={lambda}
          what="variables"
          width="medium"
          patch={draft.patch}
          textOf={JSON.stringify}
          conflict="Somebody else has changed the same variables meanwhile. Nothing was overwritten."
          onSaved={() => {
            draft.discard();
            setSaving(false);
          }}
          onClose={() => setSaving(false)}
        >
          <p className="text-muted">The next call of the lambda sees them; a process that runs is ended first.</p>
        </SaveDialog>
      )}
    </div>
  );
}

/** What the platform takes as a name (D-110). */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** A line to add a variable with. */
function NewVariable({ taken, onAdd }: { taken: ReadonlySet<string>; onAdd(name: string, value: string): void }) {
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
