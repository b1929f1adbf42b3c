import type { Operation } from 'fast-json-patch';
import { useEffect, useMemo, useRef, useState } from 'react';
import { load } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import { useChange } from '../../api/use-change.ts';
import { isRoot } from '../../api/use-identity.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { DiffEditor } from '../../components/code-editor.tsx';
import { Dialog, type DialogProps } from '../../components/dialog.tsx';
import { useKeys } from '../../keys/use-keys.ts';
import { preferences } from '../../preferences/preferences.ts';
import { Operations, type OperationsProps } from '../resources/operations.tsx';
import { codeOf } from './code-text.ts';
import type { CodeDraftState } from './use-code-draft.ts';

export interface SaveDialogProps
  extends OperationsProps,
    Pick<DialogProps, 'width' | 'action' | 'children' | 'onClose'> {
  lambda: PlatformRecord;
  partName: string;
  /** Is the stored lambda still the one at the start of the edit? For code that is too large for a `test` operation. */
  isUnchanged?: ((now: PlatformRecord) => boolean) | undefined;
  /** Is the patch applied without a review, so that only a failure is shown? */
  isAtOnce?: boolean;
  /** The message if another user saved in the meantime. */
  conflict: string;
  /** Called once the window has it as it then is. */
  onSaved(): void;
}

/** The patch that a change of a lambda is, to be seen before it is applied. Ctrl/Cmd-S once more applies it. */
export function SaveDialog(props: SaveDialogProps) {
  const {
    lambda,
    partName,
    patch,
    textOf,
    isUnchanged,
    isAtOnce = false,
    conflict,
    onSaved,
    children,
    ...rest
  } = props;
  const { action = 'Save', ...dialog } = rest;
  const saving = useChange(
    async (_, send) => {
      const path = `/meta${recordPath(lambda)}` as const;
      if (isUnchanged && !isUnchanged(await load<PlatformRecord>(path))) throw new ConcurrentSaveError();
      await send('PATCH', path, patch);
    },
    { message: `${lambda.name} was saved.`, topic: keys.world, onShown: onSaved },
  );
  const isConflict =
    saving.error instanceof ConcurrentSaveError ||
    failureOf(saving.error).details.some(({ message }) => message.includes('the test failed'));
  const apply = () => {
    if (!saving.isPending) saving.mutate();
  };
  useKeys([{ keys: 'mod+s', does: 'Save what is shown', run: apply }]);
  const isBegun = useRef(false);
  useEffect(() => {
    if (!isAtOnce || isBegun.current) return;
    isBegun.current = true;
    saving.mutate();
  }, [isAtOnce, saving.mutate]);
  if (isAtOnce && !saving.isError) return null;
  return (
    <Dialog
      {...dialog}
      title={`Save the ${partName} of ${lambda.name}`}
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

class ConcurrentSaveError extends Error {
  constructor() {
    super('the lambda has changed since you started editing');
  }
}

export interface SaveCodeDialogProps extends Pick<SaveDialogProps, 'lambda' | 'onClose'> {
  draft: Pick<CodeDraftState, 'base' | 'baseSource' | 'source'>;
  isRun: boolean;
  /** @param code as it is stored now */
  onSaved(code: string): void;
}

const CODE = '/properties/code';
/** The platform takes bodies of 10 MB unless configured otherwise. */
const LONGEST_TESTED = 9_000_000;

/**
 * A dialog that saves a lambda's code and shows what changes in it. It saves at once if the message about it offers
 * Undo and no review is preferred.
 */
export function SaveCodeDialog({ lambda, draft, isRun, onClose, onSaved }: SaveCodeDialogProps) {
  // What is typed while it is saved is not part of it.
  const [{ base, baseSource, source }] = useState(draft);
  const [isAtOnce] = useState(() => isRoot() && !preferences.value.isSaveReviewed);
  const code = useMemo(() => codeOf(source), [source]);
  // Changes of other users are not overwritten. A patch with both texts may exceed the body limit of the platform.
  const isLarge = code.length + String(base).length > LONGEST_TESTED;
  const patch: Operation[] = [
    ...(isLarge ? [] : [{ op: 'test', path: CODE, value: base } as const]),
    { op: 'replace', path: CODE, value: code },
  ];
  return (
    <SaveDialog
      lambda={lambda}
      partName="code"
      onClose={onClose}
      width="large"
      action={isRun ? 'Save and run' : 'Save'}
      patch={patch}
      textOf={() => `${code.length.toLocaleString('en')} characters of base64`}
      isAtOnce={isAtOnce}
      isUnchanged={isLarge ? ({ properties }) => properties.code === base : undefined}
      conflict="Someone else saved this lambda. Nothing was overwritten: go back and compare both versions."
      onSaved={() => onSaved(code)}
    >
      {isLarge && (
        <p className="mb-3 text-muted">
          The code is too long for a check in the patch. The stored code is checked again before the patch is sent.
        </p>
      )}
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="What changes in the code" before={baseSource} after={source} language="javascript" />
      </div>
    </SaveDialog>
  );
}
