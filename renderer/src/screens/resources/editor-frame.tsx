import { type ReactNode, useState } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { kindOf, nounOf } from '../../api/resource-kinds.ts';
import { sessionState } from '../../api/session-state.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { useKeys } from '../../keys/use-keys.ts';
import { ApplyDialog } from './apply-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import type { DraftState } from './use-draft.ts';
import type { Schema } from './use-type-schema.ts';

export interface EditorFrameProps {
  record: PlatformRecord;
  draft: DraftState;
  /** The reason that it cannot be applied as it is. */
  fault?: string | undefined;
  refresh(): Promise<unknown>;
  /** Receives the server's complaints about the last attempt. */
  onRefused(details: readonly ErrorDetail[]): void;
  children: ReactNode;
}

export interface EditorProps extends Omit<EditorFrameProps, 'draft' | 'fault' | 'children'> {
  schema: Schema;
  /** The server's complaints about the record, by pointer. */
  errors: readonly ErrorDetail[];
}

/** An editor of a resource, and below it the buttons that discard or review its changes or settle a conflict. */
export function EditorFrame({ record, draft, fault, refresh, onRefused, children }: EditorFrameProps) {
  const [isReviewing, setReviewing] = useState(false);
  const { patch, conflicts } = draft;
  const { collection } = kindOf(record);
  // Users can change their own account.
  const needs = collection === 'users' ? undefined : (`${nounOf(collection)}.update` as const);
  const isInConflict = conflicts.length > 0;
  const canReview = isInConflict || (patch.length > 0 && fault === undefined);
  const review = () => {
    // Another user may have saved before the event arrived. The refresh may find that the session has ended.
    void refresh().finally(() => setReviewing(sessionState.value.kind === 'signed-in'));
  };
  useKeys([{ keys: 'mod+s', does: 'Review the changes', run: () => canReview && review() }]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
      <div className="flex min-h-11 items-center gap-2 border-t border-line bg-panel px-4 py-1.5">
        {isInConflict ? (
          <p className="flex-1 font-medium text-warn" role="status">
            Someone else changed{' '}
            {conflicts.length === 1 ? 'the same property' : `${conflicts.length} of the same properties`}. Nothing was
            overwritten.
          </p>
        ) : (
          <p className={`flex-1 truncate ${fault ? 'text-error' : 'text-muted'}`} role="status">
            {fault ?? changesText(patch.length)}
          </p>
        )}
        <Button isDisabled={!draft.isDirty} onPress={draft.discard}>
          Discard
        </Button>
        <Button look="primary" needs={needs} isDisabled={!canReview} onPress={review}>
          {isInConflict ? 'Resolve conflict' : `Review ${patch.length > 0 ? changesText(patch.length) : 'changes'}`}
        </Button>
      </div>
      {isReviewing && isInConflict && (
        <ConflictDialog
          name={record.name}
          conflicts={conflicts}
          onClose={() => setReviewing(false)}
          onSettle={draft.settle}
        />
      )}
      {isReviewing && !isInConflict && patch.length > 0 && (
        <ApplyDialog
          record={record}
          before={draft.base}
          after={draft.mine}
          patch={patch}
          onClose={() => setReviewing(false)}
          onApplied={() => {
            setReviewing(false);
            onRefused([]);
            draft.discard();
          }}
          onRefused={(details) => {
            onRefused(details);
            // The conflict may be a change of another user.
            void refresh();
          }}
        />
      )}
    </div>
  );
}

function changesText(count: number): string {
  return count === 0 ? 'No changes' : counted(count, 'change');
}
