import { Eye, EyeOff, Pencil, Trash2, Undo2 } from 'lucide-react';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { TextField } from '../../components/fields.tsx';
import { Badge } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { isSecretName, SecretField } from '../resources/secret-field.tsx';
import type { VariableChange } from './drafts.ts';
import type { Variable } from './environment.ts';
import type { useVariableDraft } from './use-variable-draft.ts';

/** The mask for every value. Its fixed length hides the real length. */
const MASK = '••••••••';

export interface VariableRowProps {
  lambda: PlatformRecord;
  name: string;
  /** As the lambda sees it now; undefined when it is new. */
  variable: Variable | undefined;
  draft: ReturnType<typeof useVariableDraft>;
  isShown: boolean;
  onToggle(): void;
}

/** One variable: its value on demand, and what is being changed about it. */
export function VariableRow({ lambda, name, variable, draft, isShown, onToggle }: VariableRowProps) {
  const change = draft.changes.get(name);
  const isOwn = draft.own.has(name);
  return (
    <tr className="h-[34px] border-b border-line/55">
      <td className="mono truncate px-4 max-sm:break-all max-sm:whitespace-normal" title={name}>
        <span className={change && change.value === undefined ? 'line-through' : ''}>{name}</span>
      </td>
      <td className="px-2">
        <span className="flex items-center gap-1 max-sm:flex-wrap">
          {change ? (
            <ChangedValue name={name} change={change} draft={draft} isNew={variable === undefined} />
          ) : (
            variable && <Value name={name} value={variable.value} isShown={isShown} onToggle={onToggle} />
          )}
          {change ? (
            <IconButton icon={Undo2} label={`Undo the change of ${name}`} onPress={() => draft.undo(name)} />
          ) : (
            <>
              <IconButton
                icon={Pencil}
                needs="lambda.update"
                label={isOwn ? `Change ${name}` : `Override ${name}`}
                onPress={() => draft.change(name, variable?.value ?? '')}
              />
              {isOwn && (
                <IconButton
                  icon={Trash2}
                  needs="lambda.update"
                  label={`Remove ${name}`}
                  onPress={() => draft.change(name, undefined)}
                />
              )}
            </>
          )}
        </span>
        {draft.conflicts.includes(name) && <Conflict name={name} draft={draft} />}
      </td>
      <td className="truncate px-2 text-muted max-sm:hidden">
        {change ? <Badge tone="warning">not saved</Badge> : variable && <From lambda={lambda} variable={variable} />}
      </td>
    </tr>
  );
}

function Value({
  name,
  value,
  isShown,
  onToggle,
}: {
  name: string;
  value: string;
  isShown: boolean;
  onToggle(): void;
}) {
  return (
    <>
      <span className="mono min-w-0 flex-1 break-all max-sm:basis-full">
        {isShown ? value : <span aria-hidden>{MASK}</span>}
        {!isShown && <span className="sr-only">hidden</span>}
      </span>
      <IconButton
        icon={isShown ? EyeOff : Eye}
        label={`${isShown ? 'Hide' : 'Show'} ${name}`}
        onPress={onToggle}
        className="size-6"
      />
      <Copy text={value} subject={name} />
    </>
  );
}

interface ChangedValueProps extends Pick<VariableRowProps, 'draft' | 'name'> {
  change: VariableChange;
  isNew: boolean;
}

function ChangedValue({ name, change, draft, isNew }: ChangedValueProps) {
  if (change.value === undefined) return <span className="flex-1 text-muted">to be removed</span>;
  const ValueField = isSecretName(name) ? SecretField : TextField;
  return (
    <ValueField
      label={`Value of ${name}`}
      isLabelHidden
      isMono
      // One has just written a new one, in the line above.
      autoFocus={!isNew}
      value={change.value}
      onChange={(value) => draft.change(name, value)}
      className="my-0.5 flex-1 max-sm:basis-full"
    />
  );
}

function Conflict({ name, draft }: { name: string } & Pick<VariableRowProps, 'draft'>) {
  const storedValue = draft.own.get(name);
  return (
    <p role="alert" className="flex flex-wrap items-center gap-2 pb-1 text-warn">
      Someone else has{' '}
      {storedValue === undefined ? (
        'removed it'
      ) : isSecretName(name) ? (
        'changed it'
      ) : (
        <>
          set it to <span className="mono break-all">{storedValue}</span>
        </>
      )}{' '}
      meanwhile.
      <Button onPress={() => draft.rebase(name)}>Keep mine</Button>
      <Button onPress={() => draft.undo(name)}>Take theirs</Button>
    </p>
  );
}

function From({ lambda, variable: { from, overrides } }: { lambda: PlatformRecord; variable: Variable }) {
  return (
    <>
      {from === lambda ? (
        'this lambda'
      ) : from === undefined ? (
        'a resource you cannot view'
      ) : (
        <PlaceLink to={{ screen: 'resources', id: from.id }}>
          {kindOf(from).title} {from.name}
        </PlaceLink>
      )}
      {overrides.length > 0 && `, overrides ${overrides.map((record) => record.name).join(', ')}`}
    </>
  );
}
