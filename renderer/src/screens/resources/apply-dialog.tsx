import type { Operation } from 'fast-json-patch';
import { useMemo } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { failureOf } from '../../api/failure.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { RecordDifference } from '../history/record-difference.tsx';
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

/** The patch and the difference, to be seen before they are applied. */
export function ApplyDialog({ record, before, after, patch, onClose, onApplied, onRefused }: ApplyDialogProps) {
  const request = useMemo(
    () => ({ method: 'PATCH' as const, path: `/meta${recordPath(record)}`, body: guarded(before, patch) }),
    [record, before, patch],
  );
  const comparable = useMemo(() => sortedLike(before, after), [before, after]);
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
      <div className="overflow-hidden rounded-md border border-line">
        <RecordDifference label="What changes" before={before} after={comparable} />
      </div>
      <CurlNote {...request} />
    </Dialog>
  );
}
