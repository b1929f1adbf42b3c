import type { AddOperation } from 'fast-json-patch';
import { Eye, EyeOff, Plus, Save } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { segmentsOf } from '../../../../server/model/patch/pointer.ts';
import { missingText } from '../../api/permissions.tsx';
import { kindOf, nounOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { Pending } from '../../components/pending.tsx';
import { toggled } from '../../toggled.ts';
import { isSecretName, SecretField } from '../resources/secret-field.tsx';
import { variablesOf } from './environment.ts';
import { SaveDialog } from './save-dialog.tsx';
import { BoundSecrets, NewSecret } from './secret-bindings.tsx';
import { useAncestors } from './use-ancestors.ts';
import { useVariableDraft } from './use-variable-draft.ts';
import { VariableRow } from './variable-row.tsx';

/** Variables of the lambda, own and inherited: shows values on request, and edits own ones. */
export function EnvironmentTab({ lambda }: { lambda: PlatformRecord }) {
  const ancestors = useAncestors(lambda);
  const draft = useVariableDraft(lambda);
  const [shownNames, setShownNames] = useState<ReadonlySet<string>>(new Set());
  const [isSaving, setSaving] = useState(false);
  if (!ancestors.data) return <Pending query={ancestors} />;
  const variables = variablesOf(lambda, ancestors.data);
  const permission = kindOf(ancestors.data.above.at(-1) ?? lambda)
    .parents.map((parent) => `${nounOf(parent)}.view`)
    .join(' or ');
  const knownNames = new Set(variables.map(({ name }) => name));
  const fresh = [...draft.changes.keys()].filter((name) => !knownNames.has(name));
  const ownNames = new Set([...draft.own.keys(), ...fresh]);
  const nameFault = (name: string): string | undefined => {
    if (name === '') return undefined;
    if (ownNames.has(name)) return 'the lambda already has this variable; change it in the list';
    if (NAME.test(name)) return undefined;
    return 'is not a valid name: use letters, digits and _ . -, and do not begin with a digit';
  };
  const areAllShown = variables.length > 0 && variables.every(({ name }) => shownNames.has(name));
  const rowOf = (name: string) => (
    <VariableRow
      key={name}
      lambda={lambda}
      name={name}
      variable={variables.find((variable) => variable.name === name)}
      draft={draft}
      isShown={shownNames.has(name)}
      onToggle={() => setShownNames(toggled(shownNames, name))}
    />
  );
  return (
    <div>
      <div className="flex min-h-9 items-center gap-2 border-b border-line px-4 py-1 max-sm:flex-wrap">
        <span className="min-w-0 flex-1 truncate text-muted max-sm:basis-full">
          {counted(variables.length, 'variable')} and built-in ones such as <code>META_URL</code>
        </span>
        <Button
          icon={areAllShown ? EyeOff : Eye}
          look="quiet"
          isDisabled={variables.length === 0}
          onPress={() => setShownNames(areAllShown ? new Set() : knownNames)}
        >
          {areAllShown ? 'Hide all' : 'Show all'}
        </Button>
        <NewSecret lambda={lambda} nameFault={nameFault} />
        {draft.changes.size > 0 && (
          <Button look="quiet" onPress={draft.discard}>
            Discard changes
          </Button>
        )}
        <Button
          icon={Save}
          needs="lambda.update"
          isDisabled={draft.patch.length === 0 || draft.conflicts.length > 0}
          onPress={() => setSaving(true)}
        >
          Save variables
        </Button>
      </div>
      <NewVariable nameFault={nameFault} onAdd={(name, value) => draft.change(name, value)} />
      {ancestors.data.merged && (
        <p role="note" className="border-b border-line px-4 py-1.5 text-muted">
          Some variables are inherited from a resource that you cannot view. {missingText(permission, undefined)}
        </p>
      )}
      <table className="w-full table-fixed">
        <caption className="sr-only">Environment variables</caption>
        <thead>
          <tr className="h-7 border-b border-line text-left text-small text-faint">
            <th className="w-[30%] px-4 font-normal">Name</th>
            <th className="px-2 font-normal">Value</th>
            <th className="w-[24%] px-2 font-normal max-sm:hidden">From</th>
          </tr>
        </thead>
        <tbody>
          {variables.map(({ name }) => rowOf(name))}
          {fresh.map(rowOf)}
        </tbody>
      </table>
      <BoundSecrets lambda={lambda} />
      {isSaving && (
        <SaveDialog
          lambda={lambda}
          partName="variables"
          width="medium"
          patch={draft.patch}
          textOf={newValueText}
          conflict="Someone else changed the same variables. Nothing was overwritten."
          onSaved={() => {
            draft.discard();
            setSaving(false);
          }}
          onClose={() => setSaving(false)}
        >
          <p className="text-muted">Takes effect on the next invocation.</p>
        </SaveDialog>
      )}
    </div>
  );
}

/** The new value of a variable. A value that its name calls secret is not shown: others may see the screen. */
function newValueText({ path, value }: Pick<AddOperation<unknown>, 'path' | 'value'>): string {
  return isSecretName(segmentsOf(path).at(-1) ?? '') ? 'hidden' : JSON.stringify(value);
}

/** Names that the platform accepts (D-110). */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

function NewVariable({
  nameFault,
  onAdd,
}: {
  nameFault(name: string): string | undefined;
  onAdd(name: string, value: string): void;
}) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const fault = nameFault(name);
  const ValueField = isSecretName(name) ? SecretField : TextField;
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
      <ValueField
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
