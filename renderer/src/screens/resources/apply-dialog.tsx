import { useMutation } from '@tanstack/react-query';
import type { Operation } from 'fast-json-patch';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { type Editable, guarded } from './resource-patch.ts';

export interface ApplyDialogProps {
  record: PlatformRecord;
  before: Editable;
  after: Editable;
  patch: readonly Operation[];
  onClose(): void;
  onApplied(): void;
}

/** The patch and the difference, to be seen before they are applied. */
export function ApplyDialog({ record, before, after, patch, onClose, onApplied }: ApplyDialogProps) {
  const applying = useMutation({
    mutationFn: () => send('PATCH', `/meta${recordPath(record)}`, guarded(before, patch)),
    onSuccess: () => {
      onApplied();
      toast({ tone: 'ok', text: `${record.name} was changed.` });
      void queryClient.invalidateQueries();
    },
  });
  const failure = applying.error ? failureOf(applying.error) : undefined;
  const isConflict = failure?.details.some(({ message }) => message.includes('the test failed'));
  return (
    <Dialog
      title={`Patch to apply to ${record.name}`}
      isOpen
      onClose={onClose}
      width="large"
      actions={
        <>
          <Button onPress={onClose}>Back</Button>
          <Button look="primary" isPending={applying.isPending} onPress={() => applying.mutate()}>
            Apply {patch.length === 1 ? '1 change' : `${patch.length} changes`}
          </Button>
        </>
      }
    >
      <ul aria-label="Operations" className="mb-3 max-h-40 overflow-auto">
        {patch.map(({ op, path }) => (
          <li key={`${op} ${path}`} className="mono flex gap-3">
            <span className={`w-16 ${op === 'remove' ? 'text-error' : op === 'add' ? 'text-ok' : 'text-running'}`}>
              {op}
            </span>
            <span className="break-all">{path}</span>
          </li>
        ))}
      </ul>
      <div className="h-72 overflow-hidden rounded-md border border-line">
        <DiffEditor
          label="What changes"
          before={JSON.stringify(before, null, 2)}
          after={JSON.stringify(after, null, 2)}
          language="json"
        />
      </div>
      {failure && (
        <div className="mt-3">
          {isConflict && (
            <p className="mb-2 font-medium">
              Somebody else has changed the same place meanwhile. Nothing was overwritten; go back to see what is there
              now.
            </p>
          )}
          <FailureNote failure={failure} />
        </div>
      )}
    </Dialog>
  );
}
