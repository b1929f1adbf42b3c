import { useMutation } from '@tanstack/react-query';
import type { Operation } from 'fast-json-patch';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { codeOf, sourceOf } from './code-text.ts';

export interface SaveDialogProps {
  lambda: PlatformRecord;
  /** What one began to edit: a `code` as it is stored. */
  base: unknown;
  source: string;
  /** Is the lambda to be run once it is saved? */
  isRun: boolean;
  onClose(): void;
  onSaved(): void;
}

/** The patch and what it changes in the code, to be seen before it is applied. */
export function SaveDialog({ lambda, base, source, isRun, onClose, onSaved }: SaveDialogProps) {
  const code = codeOf(source);
  const patch: Operation[] = [
    // Whoever saved in the meantime is not overwritten.
    { op: 'test', path: '/properties/code', value: base },
    { op: 'replace', path: '/properties/code', value: code },
  ];
  const saving = useMutation({
    mutationFn: () => send('PATCH', `/meta${recordPath(lambda)}`, patch),
    onSuccess: async () => {
      toast({ tone: 'ok', text: `${lambda.name} was saved.` });
      await queryClient.invalidateQueries({ queryKey: [keys.world] });
      onSaved();
    },
  });
  const failure = saving.error ? failureOf(saving.error) : undefined;
  const isConflict = failure?.details.some(({ message }) => message.includes('the test failed'));
  return (
    <Dialog
      title={`Save the code of ${lambda.name}`}
      isOpen
      onClose={onClose}
      width="large"
      actions={
        <>
          <Button onPress={onClose}>Back</Button>
          <Button look="primary" isPending={saving.isPending} onPress={() => saving.mutate()}>
            {isRun ? 'Save and run' : 'Save'}
          </Button>
        </>
      }
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
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="What changes in the code" before={sourceOf(base)} after={source} language="javascript" />
      </div>
      {failure && (
        <div className="mt-3">
          {isConflict && (
            <p className="mb-2 font-medium">
              Somebody else has saved this lambda meanwhile. Nothing was overwritten; take over what is there now, or
              copy yours first.
            </p>
          )}
          <FailureNote failure={failure} />
        </div>
      )}
    </Dialog>
  );
}
