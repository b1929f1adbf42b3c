import { failureOf } from '../../api/failure.ts';
import { usePlace } from '../../api/tree.ts';
import { useDraftOf } from '../../draft-store.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Copy } from '../../parts/copy.tsx';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { codeDrafts } from './drafts.ts';

/** A lambda that is not there any more, or was never; what one had written for it is not lost. */
export function GoneLambda({ id, name }: { id: string; name: string | undefined }) {
  const place = usePlace(id);
  const isTaken = place.error !== null && failureOf(place.error).code === 403;
  const draft = useDraftOf(codeDrafts, id);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {isTaken ? (
        <ErrorState error={place.error} onRetry={() => void place.refetch()} />
      ) : (
        <EmptyState
          title={name === undefined ? 'This lambda is not there' : `${name} is not there any more`}
          text={
            name === undefined
              ? 'It was deleted, or it is outside of the scope.'
              : 'It was deleted or moved out of the scope while you had it open. What was deleted can be brought back.'
          }
        >
          <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
        </EmptyState>
      )}
      {draft && (
        <section aria-label="Code that was not saved" className="flex min-h-0 flex-1 flex-col border-t border-line">
          <div className="flex items-center gap-2 border-b border-line px-4 py-1">
            <h3 className="eyebrow">Code that you had not saved</h3>
            <Copy text={draft.source} what="code" />
            <Button className="ml-auto" onPress={() => codeDrafts.keep(id, undefined)}>
              Discard it
            </Button>
          </div>
          <div className="min-h-0 flex-1">
            <CodeEditor label="Code that was not saved" value={draft.source} language="javascript" isReadOnly />
          </div>
        </section>
      )}
    </div>
  );
}
