import { Trash2 } from 'lucide-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { HistoryTab } from './history-tab.tsx';
import { useHasDraft } from './use-draft.ts';

/** A resource that is not there: deleted while one looked at it, or named by an old address. The history brings it back. */
export function GoneResource({ id, name }: { id: string; name: string | undefined }) {
  const hasDraft = useHasDraft(id);
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div role="status">
        <EmptyState
          icon={Trash2}
          title={name === undefined ? 'This resource is not there' : `${name} was deleted`}
          text={
            name === undefined
              ? 'It was deleted, or it is in a place that you may not see.'
              : 'Somebody has deleted it while it was open. To bring it back, revert the deletion below.'
          }
        >
          {hasDraft && <p>Your changes to it are kept: they are here again once it is.</p>}
          <span className="mono text-faint">{id}</span>
        </EmptyState>
      </div>
      <h3 className="eyebrow border-b border-line px-4 py-1">History</h3>
      <HistoryTab id={id} />
    </div>
  );
}
