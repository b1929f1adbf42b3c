import { History, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { useMissing } from '../../api/permissions.tsx';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { PAST_TOPIC, useRead } from '../../api/use-read.ts';
import { Time } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { FailureNote, Withheld } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { noteStep } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { Comparison } from '../resources/comparison.tsx';
import { PatchList } from './patch-list.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { SinceTab } from './since-tab.tsx';
import { useCommit } from './use-commits.ts';
import { WorldTab } from './world-tab.tsx';

export interface MomentDetailProps {
  seq: number;
  /** The first kept moment; changes before it are unknown. */
  oldest: number;
  newest: number;
  onClose(): void;
}

const WITHHELD = 'You need permission to view what it changed. Ask root or an owner to grant it.';

/** A moment of the world: its last change, its resources, their changes since then, and ways to restore it. */
export function MomentDetail({ seq, oldest, newest, onClose }: MomentDetailProps) {
  const [{ tab }, change] = useSearch();
  const [isAsking, setAsking] = useState(false);
  const hasCommit = seq > oldest;
  const missing = useMissing('all');
  const withheld = missing && <Withheld text={missing} />;
  const commit = useCommit(hasCommit ? seq : undefined, newest);
  const reverting = useChange(() => send('POST', `/inspect/history/${seq}/revert`, {}), {
    onDone: ({ commit: revertCommit }) => {
      noteStep('undo');
      toastCommit(`Commit ${seq} was undone.`, revertCommit?.seq);
    },
  });
  const tabs = [
    ...(hasCommit
      ? [
          {
            id: 'change',
            title: 'Change',
            count: commit?.operations,
            content: commit === null ? <Withheld text={WITHHELD} /> : <ChangeTab seq={seq} />,
          },
        ]
      : []),
    { id: 'world', title: 'World at this point', isFilling: true, content: withheld ?? <WorldTab seq={seq} /> },
    { id: 'since', title: 'Since then', content: withheld ?? <SinceTab since={{ seq }} /> },
  ];
  return (
    <>
      <div className="px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 className="shrink-0 text-title">{hasCommit ? `Commit ${seq}` : 'The first moment in the history'}</h2>
          {commit && (
            <span className="truncate text-muted">
              {commit.sentence}, <Time at={commit.at} />
            </span>
          )}
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <div className="mt-1.5 flex flex-wrap gap-1.5">
          {hasCommit && (
            <Button icon={Undo2} needs="root" isPending={reverting.isPending} onPress={() => reverting.mutate()}>
              Revert this commit
            </Button>
          )}
          <Button icon={History} needs="root" isDisabled={seq >= newest} onPress={() => setAsking(true)}>
            Go back to this moment
          </Button>
        </div>
        <FailureNote error={reverting.error} className="mt-2" />
      </div>
      <Tabs
        isInDetail
        label="Moment"
        tabs={tabs}
        value={tab}
        onChange={(next) => change({ tab: next }, { isNewStep: true })}
      />
      {isAsking && (
        <RestoreDialog
          to={{ seq }}
          onClose={() => setAsking(false)}
          onRestored={() => change({ sel: undefined, rec: undefined })}
        />
      )}
    </>
  );
}

/** The most changed resources whose differences are shown. If a commit changed more, only its operations are shown. */
const MAX_COMPARED = 3;

function ChangeTab({ seq }: { seq: number }) {
  const commit = useRead(PAST_TOPIC, `/inspect/history/${seq}`);
  const { data } = commit;
  if (!data) return <Pending query={commit} />;
  const paths = new Map(data.resources.map(({ id, path }) => [id, path]));
  return (
    <>
      <section className="border-b border-line px-4 py-2">
        <h3 className="eyebrow">Resources</h3>
        <ul>
          {data.resources.map(({ id, path, type }) => (
            <li key={id} className="flex min-h-7 flex-wrap items-center gap-x-2 break-all">
              <PlaceLink to={{ screen: 'resources', id, search: { tab: 'history' } }}>{path}</PlaceLink>
              <span className="truncate text-muted">{type}</span>
            </li>
          ))}
        </ul>
      </section>
      {data.resources.length <= MAX_COMPARED &&
        data.resources.map(({ id, path }) => (
          <section key={id} aria-label={`Difference of ${path}`}>
            {data.resources.length > 1 && <h3 className="px-4 pt-2 font-medium break-all">{path}</h3>}
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
