import { Eye, EyeOff, Plus, Save } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { counted } from '../../parts/amounts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Pending } from '../../parts/pending.tsx';
import { toggled } from '../../toggled.ts';
import { variablesOf } from './environment.ts';
import { useLineage } from './use-lineage.ts';
import { useSaveLambda } from './use-save-lambda.ts';
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
      {isSaving && <VariablesDialog lambda={lambda} draft={draft} onClose={() => setSaving(false)} />}
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

interface VariablesDialogProps {
  lambda: PlatformRecord;
  draft: ReturnType<typeof useVariableDraft>;
  onClose(): void;
}

/** The patch that the changed variables are, to be seen before it is applied. */
function VariablesDialog({ lambda, draft, onClose }: VariablesDialogProps) {
  const { save, saving, isConflict } = useSaveLambda(lambda, () => {
    draft.discard();
    onClose();
  });
  return (
    <Dialog
      title={`Save the variables of ${lambda.name}`}
      onClose={onClose}
      width="medium"
      closing="Back"
      action="Save"
      onAction={() => save({ patch: draft.patch })}
      making={saving}
    >
      <ul aria-label="Operations">
        {draft.patch.map((operation) => (
          <li key={`${operation.op} ${operation.path}`} className="mono flex gap-3">
            <span className={`w-16 shrink-0 ${operation.op === 'test' ? 'text-muted' : 'text-running'}`}>
              {operation.op}
            </span>
            <span className="shrink-0">{operation.path}</span>
            {operation.op === 'test' && <span className="text-muted">is still what you began with</span>}
            {(operation.op === 'add' || operation.op === 'replace') && (
              <span className="min-w-0 break-all">{JSON.stringify(operation.value)}</span>
            )}
          </li>
        ))}
      </ul>
      <p className="mt-3 text-muted">The next call of the lambda sees them; a process that runs is ended first.</p>
      {isConflict && (
        <p className="mt-3 font-medium">
          Somebody else has changed the same variables meanwhile. Nothing was overwritten.
        </p>
      )}
    </Dialog>
  );
}
