import type { PlatformRecord } from '../../api/world.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useSaveLambda } from './use-save-lambda.ts';
import type { useVariableDraft } from './use-variable-draft.ts';

export interface VariablesDialogProps {
  lambda: PlatformRecord;
  draft: ReturnType<typeof useVariableDraft>;
  onClose(): void;
}

/** The patch that the changed variables are, to be seen before it is applied. */
export function VariablesDialog({ lambda, draft, onClose }: VariablesDialogProps) {
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
      deed="Save"
      onDeed={() => save({ patch: draft.patch })}
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
