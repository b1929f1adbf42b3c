import type { Operation } from 'fast-json-patch';
import { useMemo } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { failureOf } from '../../api/failure.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { DiffEditor } from '../../components/code-editor.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { sourceOf } from '../lambdas/code-text.ts';
import { CurlNote } from './curl-note.tsx';
import { Operations } from './operations.tsx';
import { type Editable, guarded, sortedLike } from './resource-patch.ts';

export interface ApplyDialogProps {
  record: PlatformRecord;
  before: Editable;
  after: Editable;
  patch: readonly Operation[];
  onClose(): void;
  onApplied(): void;
  onRefused(details: readonly ErrorDetail[]): void;
}

/** Longer texts are not compared: the operations say what changes. */
const MAX_COMPARED_CHARS = 300_000;

/** The patch and the difference, to be seen before they are applied. */
export function ApplyDialog({ record, before, after, patch, onClose, onApplied, onRefused }: ApplyDialogProps) {
  const request = useMemo(
    () => ({ method: 'PATCH' as const, path: `/meta${recordPath(record)}`, body: guarded(before, patch) }),
    [record, before, patch],
  );
  const texts = useMemo(
    () => [before, sortedLike(before, after)].map((value) => JSON.stringify(value, null, 2)),
    [before, after],
  );
  // Base64 is not readable.
  const sources = useMemo(() => [before, after].map(({ properties }) => sourceOf(properties.code)), [before, after]);
  const [from = '', to = ''] = texts;
  const applying = useChange((_, send) => send(request.method, request.path, request.body), {
    message: `${record.name} was changed.`,
    onDone: onApplied,
    onRefused: (thrown) => onRefused(failureOf(thrown).details),
  });
  return (
    <Dialog
      title={`Apply changes to ${record.name}`}
      onClose={onClose}
      width="large"
      closing="Back"
      action={`Apply ${counted(patch.length, 'change')}`}
      onAction={applying.mutate}
      making={applying}
    >
      <Operations patch={patch} />
      {record.resource_type.endsWith('::Lambda') && sources[0] !== sources[1] && (
        <div className="mb-3 h-56 overflow-hidden rounded-md border border-line">
          <DiffEditor
            label="What changes in the code"
            before={sources[0] ?? ''}
            after={sources[1] ?? ''}
            language="javascript"
          />
        </div>
      )}
      {from.length + to.length <= MAX_COMPARED_CHARS ? (
        <div className="h-72 overflow-hidden rounded-md border border-line">
          <DiffEditor label="What changes" before={from} after={to} language="json" />
        </div>
      ) : (
        <p className="text-muted">Too large to compare here: see the operations above.</p>
      )}
      <CurlNote {...request} />
    </Dialog>
  );
}
