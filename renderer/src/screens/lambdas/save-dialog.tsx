import type { Operation } from 'fast-json-patch';
import { useMemo } from 'react';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog, type DialogProps } from '../../parts/dialog.tsx';
import { Operations, type OperationsProps } from '../resources/operations.tsx';
import { codeOf } from './code-text.ts';
import type { CodeDraftState } from './use-code-draft.ts';

export interface SaveDialogProps
  extends OperationsProps,
    Pick<DialogProps, 'width' | 'action' | 'children' | 'onClose'> {
  lambda: PlatformRecord;
  /** What of it, e.g. `code`. */
  what: string;
  /** Is the lambda, read anew, still what one began with? For what is too large to be tested by the patch. */
  isUnchanged?: ((now: PlatformRecord) => boolean) | undefined;
  /** What is said where somebody else has saved meanwhile. */
  conflict: string;
  /** Called once the window has it as it then is. */
  onSaved(): void;
}

/** The patch that a change of a lambda is, to be seen before it is applied. Ctrl/Cmd-S once more applies it. */
export function SaveDialog(props: SaveDialogProps) {
  const { lambda, what, patch, textOf, isUnchanged, conflict, onSaved, children, action = 'Save', ...dialog } = props;
  const saving = useChange(
    async () => {
      const path = `/meta${recordPath(lambda)}` as const;
      if (isUnchanged && !isUnchanged(await load<PlatformRecord>(path))) throw new Overtaken();
      await send('PATCH', path, patch);
    },
    { said: `${lambda.name} was saved.`, topic: keys.world, onShown: onSaved },
  );
  const isConflict =
    saving.error instanceof Overtaken ||
    failureOf(saving.error).details.some(({ message }) => message.includes('the test failed'));
  const apply = () => {
    if (!saving.isPending) saving.mutate();
  };
  useKeys([{ keys: 'mod+s', does: 'Save what is shown', run: apply }]);
  return (
    <Dialog
      {...dialog}
      title={`Save the ${what} of ${lambda.name}`}
      closing="Back"
      action={action}
      shortcut="Ctrl S"
      onAction={apply}
      making={saving}
    >
      <Operations patch={patch} textOf={textOf} />
      {children}
      {isConflict && <p className="mt-3 font-medium">{conflict}</p>}
    </Dialog>
  );
}

class Overtaken extends Error {
  constructor() {
    super('it is not what you began with any more');
  }
}

export interface SaveCodeDialogProps extends Pick<SaveDialogProps, 'lambda' | 'onClose'> {
  draft: Pick<CodeDraftState, 'base' | 'baseSource' | 'source'>;
  /** Is the lambda to be run once it is saved? */
  isRun: boolean;
  /** @param code as it is stored now */
  onSaved(code: string): void;
}

const CODE = '/properties/code';
/** The platform takes bodies of 10 MB unless it is told otherwise. */
const LONGEST_TESTED = 9_000_000;

/** The same of its code, with what changes in it. */
export function SaveCodeDialog({ lambda, draft, isRun, onClose, onSaved }: SaveCodeDialogProps) {
  const { base, baseSource, source } = draft;
  const code = useMemo(() => codeOf(source), [source]);
  // Whoever saved in the meantime is not overwritten. A patch that holds both may be longer than the platform takes.
  const isLarge = code.length + String(base).length > LONGEST_TESTED;
  const patch: Operation[] = [
    ...(isLarge ? [] : [{ op: 'test', path: CODE, value: base } as const]),
    { op: 'replace', path: CODE, value: code },
  ];
  return (
    <SaveDialog
      lambda={lambda}
      what="code"
      onClose={onClose}
      width="large"
      action={isRun ? 'Save and run' : 'Save'}
      patch={patch}
      textOf={() => `${code.length.toLocaleString('en')} characters of base64`}
      isUnchanged={isLarge ? ({ properties }) => properties.code === base : undefined}
      conflict="Somebody else has saved this lambda meanwhile. Nothing was overwritten: go back, and compare theirs with yours."
      onSaved={() => onSaved(code)}
    >
      {isLarge && (
        <p className="mb-3 text-muted">
          Too long to be tested in the patch itself: what is stored is read once more just before it is sent.
        </p>
      )}
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="What changes in the code" before={baseSource} after={source} language="javascript" />
      </div>
    </SaveDialog>
  );
}
