import { History, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { PAST, useRead } from '../../api/read.ts';
import { Time } from '../../parts/amount.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { Pending } from '../../parts/pending.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { Comparison } from '../resources/comparison.tsx';
import { actorOf, changeOf } from './history-answers.ts';
import { PatchList } from './patch-list.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { SinceTab } from './since-tab.tsx';
import { tellOfCommit } from './undo-toast.ts';
import { useCommit } from './use-commits.ts';
import { WorldTab } from './world-tab.tsx';

export interface MomentDetailProps {
  seq: number;
  /** The first moment that is kept; of what led to it nothing is known. */
  oldest: number;
  newest: number;
  onClose(): void;
}

/** A moment of the world: what had just been changed, what there was, what has become of it, and the ways back. */
export function MomentDetail({ seq, oldest, newest, onClose }: MomentDetailProps) {
  const [{ tab }, change] = useSearch();
  const [isAsking, setAsking] = useState(false);
  const hasCommit = seq > oldest;
  const commit = useCommit(hasCommit ? seq : undefined, newest);
  const reverting = useChange(() => send('POST', `/inspect/history/${seq}/revert`, {}), {
    onDone: ({ commit: made }) => tellOfCommit(`Commit ${seq} was taken back.`, made?.seq),
  });
  const tabs = [
    ...(hasCommit
      ? [{ id: 'change', title: 'Change', count: commit?.operations, content: <ChangeTab seq={seq} /> }]
      : []),
    { id: 'world', title: 'World then', content: <WorldTab seq={seq} /> },
    { id: 'since', title: 'Since then', content: <SinceTab since={{ seq }} /> },
  ];
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 className="shrink-0 text-[14px]">{hasCommit ? `Commit ${seq}` : 'The first moment that is kept'}</h2>
          {commit && (
            <span className="truncate text-muted">
              {changeOf(commit)} by {actorOf(commit)}, <Time at={commit.at} />
            </span>
          )}
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <div className="mt-1.5 flex flex-wrap gap-1.5">
          {hasCommit && (
            <Button icon={Undo2} isPending={reverting.isPending} onPress={() => reverting.mutate()}>
              Revert this commit
            </Button>
          )}
          <Button icon={History} isDisabled={seq >= newest} onPress={() => setAsking(true)}>
            Go back to this moment
          </Button>
        </div>
        <FailureNote error={reverting.error} className="mt-2" />
      </div>
      <Tabs label="Moment" tabs={tabs} value={tab} onChange={(next) => change({ tab: next }, { isNewStep: true })} />
      {isAsking && (
        <RestoreDialog
          to={{ seq }}
          onClose={() => setAsking(false)}
          onRestored={() => change({ sel: undefined, rec: undefined })}
        />
      )}
    </div>
  );
}

/** Of a commit that changed more resources each is looked at by itself. */
const MAX_COMPARED = 3;

/** What one commit changed. */
function ChangeTab({ seq }: { seq: number }) {
  const commit = useRead(PAST, `/inspect/history/${seq}`);
  const { data } = commit;
  if (!data) return <Pending query={commit} />;
  const paths = new Map(data.resources.map(({ id, path }) => [id, path]));
  return (
    <>
      <section className="border-b border-line px-4 py-2">
        <h3 className="eyebrow">Resources</h3>
        <ul>
          {data.resources.map(({ id, path, type }) => (
            <li key={id} className="flex h-7 items-center gap-2">
              <PlaceLink to={{ screen: 'resources', id, search: { tab: 'history' } }}>{path}</PlaceLink>
              <span className="truncate text-muted">{type}</span>
            </li>
          ))}
        </ul>
      </section>
      {data.resources.length <= MAX_COMPARED &&
        data.resources.map(({ id, path }) => (
          <section key={id} aria-label={`Difference of ${path}`}>
            {data.resources.length > 1 && <h3 className="px-4 pt-2 font-medium">{path}</h3>}
            <Comparison id={id} before={seq - 1} after={seq} />
          </section>
        ))}
      <section>
        <h3 className="eyebrow px-4 pt-2">Operations</h3>
        <PatchList ops={data.ops} pathOf={(id) => paths.get(id)} />
      </section>
    </>
  );
}
