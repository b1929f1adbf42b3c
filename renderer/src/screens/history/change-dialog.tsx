import { useQuery } from '@tanstack/react-query';
import { load, loadAs } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Pending } from '../../parts/pending.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { Difference, ResourceDifference } from './history-answers.ts';
import { PatchList } from './patch-list.tsx';
import { RecordDifference } from './record-difference.tsx';
import { differenceAddress, type Since } from './use-commits.ts';

export interface ChangeDialogProps {
  change: ResourceDifference;
  since: Since;
  onClose(): void;
}

/** What has become of one resource since a moment: the patch, and both records beside each other where both are known. */
export function ChangeDialog({ change, since, onClose }: ChangeDialogProps) {
  const { id, path, action } = change;
  const found = useQuery({
    queryKey: [keys.history, 'change', since, id],
    queryFn: async ({ signal }) => {
      const recordAt = (at: number | undefined) =>
        load('/inspect/world', { resource: id, ...(at !== undefined && { at }) }, signal);
      const [difference, before, after] = await Promise.all([
        loadAs<Difference>(...differenceAddress(since, { resource: id }), signal),
        action !== 'create' && 'seq' in since ? recordAt(since.seq) : undefined,
        action !== 'delete' ? recordAt(undefined) : undefined,
      ]);
      return { ops: difference.ops ?? [], before, after };
    },
  });
  const { data } = found;
  return (
    <Dialog
      title={`Patch of ${path}`}
      onClose={onClose}
      width="large"
      closing="Close"
      foot={
        action !== 'delete' && (
          <PlaceLink
            to={{ screen: 'resources', id, search: { tab: 'history' } }}
            className="link order-first mr-auto self-center"
          >
            Open the resource
          </PlaceLink>
        )
      }
    >
      {!data && <Pending query={found} />}
      {data && (
        <>
          <h3 className="eyebrow">From then to now, as JSON Patch</h3>
          <div className="max-h-60 overflow-auto rounded-md border border-line">
            <PatchList ops={data.ops} />
          </div>
          {data.before && data.after && (
            <>
              <h3 className="eyebrow mt-3">Then and now</h3>
              <div className="overflow-hidden rounded-md border border-line">
                <RecordDifference label="Then and now" before={data.before} after={data.after} />
              </div>
            </>
          )}
        </>
      )}
    </Dialog>
  );
}
