import { failureOf } from '../../api/failure.ts';
import { usePlace } from '../../api/tree.ts';
import { Button } from '../../components/button.tsx';
import { CodeEditor } from '../../components/code-editor.tsx';
import { Copy } from '../../components/copy.tsx';
import { EmptyState, ErrorState } from '../../components/empty-state.tsx';
import { useDraftOf } from '../../draft-store.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { codeDrafts } from './drafts.ts';

/** A lambda that is deleted, or was never; what one had written for it is not lost. */
export function DeletedLambda({ id, name }: { id: string; name: string | undefined }) {
  const locationQuery = usePlace(id);
  const isTaken = locationQuery.error !== null && failureOf(locationQuery.error).code === 403;
  const draft = useDraftOf(codeDrafts, id);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {isTaken ? (
        <ErrorState error={locationQuery.error} onRetry={() => void locationQuery.refetch()} />
      ) : (
        <EmptyState
          title={name === undefined ? 'Lambda not found' : `${name} was deleted or moved`}
          text={
            name === undefined
              ? 'It was deleted, or it is outside the scope.'
              : 'It was deleted or moved out of the scope while it was open. You can restore a deleted lambda in the history.'
          }
        >
          <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
        </EmptyState>
      )}
      {draft && (
        <section aria-label="Unsaved code" className="flex min-h-0 flex-1 flex-col border-t border-line">
          <div className="flex items-center gap-2 border-b border-line px-4 py-1">
            <h3 className="eyebrow">Your unsaved code</h3>
            <Copy text={draft.source} subject="code" />
            <Button className="ml-auto" onPress={() => codeDrafts.keep(id, undefined)}>
              Discard it
            </Button>
          </div>
          <div className="min-h-0 flex-1">
            <CodeEditor label="Unsaved code" value={draft.source} language="javascript" isReadOnly />
          </div>
        </section>
      )}
    </div>
  );
}
