import type { Operation } from 'fast-json-patch';
import { useMemo } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { codeOf } from './code-text.ts';
import type { CodeDraftState } from './use-code-draft.ts';
import { useSaveLambda } from './use-save-lambda.ts';

export interface SaveDialogProps {
  lambda: PlatformRecord;
  draft: Pick<CodeDraftState, 'base' | 'baseSource' | 'source'>;
  /** Is the lambda to be run once it is saved? */
  isRun: boolean;
  onClose(): void;
  /** @param code as it is stored now */
  onSaved(code: string): void;
}

const CODE = '/properties/code';
/** The platform takes bodies of 10 MB unless it is told otherwise. */
const LONGEST_TESTED = 9_000_000;

/** The patch and what it changes in the code, to be seen before it is applied. */
export function SaveDialog({ lambda, draft, isRun, onClose, onSaved }: SaveDialogProps) {
  const { base, baseSource, source } = draft;
  const code = useMemo(() => codeOf(source), [source]);
  // Whoever saved in the meantime is not overwritten. A patch that holds both may be longer than the platform takes.
  const isLarge = code.length + String(base).length > LONGEST_TESTED;
  const patch: Operation[] = [
    ...(isLarge ? [] : [{ op: 'test', path: CODE, value: base } as const]),
    { op: 'replace', path: CODE, value: code },
  ];
  const isUnchanged = (now: PlatformRecord) => now.properties.code === base;
  const { save, saving, isConflict } = useSaveLambda(lambda, () => onSaved(code));
  const apply = () => {
    if (!saving.isPending) save({ patch, ...(isLarge && { isUnchanged }) });
  };
  // What the first one showed the second one does.
  useKeys([{ keys: 'mod+s', does: 'Save what is shown', run: apply }]);
  return (
    <Dialog
      title={`Save the code of ${lambda.name}`}
      onClose={onClose}
      width="large"
      closing="Back"
      action={isRun ? 'Save and run' : 'Save'}
      shortcut="Ctrl S"
      onAction={apply}
      making={saving}
    >
      <ul aria-label="Operations" className="mb-3">
        {patch.map(({ op, path }) => (
          <li key={op} className="mono flex gap-3">
            <span className={`w-16 ${op === 'replace' ? 'text-running' : 'text-muted'}`}>{op}</span>
            <span>{path}</span>
            <span className="text-muted">
              {op === 'test'
                ? 'is still what you began with'
                : `${code.length.toLocaleString('en')} characters of base64`}
            </span>
          </li>
        ))}
      </ul>
      {isLarge && (
        <p className="mb-3 text-muted">
          Too long to be tested in the patch itself: what is stored is read once more just before it is sent.
        </p>
      )}
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="What changes in the code" before={baseSource} after={source} language="javascript" />
      </div>
      {isConflict && (
        <p className="mt-3 font-medium">
          Somebody else has saved this lambda meanwhile. Nothing was overwritten: go back, and compare theirs with
          yours.
        </p>
      )}
    </Dialog>
  );
}
