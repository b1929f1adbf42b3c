import { Camera } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { ListScreen } from '../../shell/list-screen.tsx';
import { useSearch } from '../../url.ts';
import { COLUMNS, COLUMNS_BESIDE, keyOfCommit } from './commit-columns.tsx';
import { InstanceMenu } from './instance-menu.tsx';
import { MomentDetail } from './moment-detail.tsx';
import { SnapshotsDialog } from './snapshots-dialog.tsx';
import { TimeLine } from './time-line.tsx';
import { useCommitList } from './use-commit-list.ts';
import { useSnapshots, useSpan } from './use-commits.ts';

const SEQ = /^\d{1,15}$/;

/** The history: every commit, to view, compare, undo or restore. */
export default function HistoryScreen() {
  const [{ sel, dialog, find = '', scope }, change] = useSearch();
  const span = useSpan();
  const snapshots = useSnapshots();
  const { oldest = 0, newest = 0 } = span.data ?? {};
  const at = sel !== undefined && SEQ.test(sel) ? Math.min(newest, Math.max(oldest, Number(sel))) : undefined;
  const commits = useCommitList(span);
  const isNarrowed = find.trim() !== '' || scope !== undefined;
  const close = () => change({ sel: undefined, rec: undefined });
  const openDialog = (name: string | undefined) => change({ dialog: name });
  return (
    <ListScreen
      title="History"
      bar={
        <FindField
          label="Find commits"
          placeholder="Find commits: words, by:person, since:1h, a day"
          searchParameter="find"
          className="max-w-lg min-w-32 flex-1"
        />
      }
      actions={
        <>
          <Button icon={Camera} needs="all" onPress={() => openDialog('snapshots')}>
            Snapshots
          </Button>
          <InstanceMenu open={dialog} onOpen={openDialog} />
        </>
      }
      above={
        span.data && (
          <TimeLine
            oldest={oldest}
            newest={newest}
            at={at}
            snapshots={snapshots.data ?? []}
            onChange={(seq) => change({ sel: seq === undefined ? undefined : String(seq) })}
          />
        )
      }
      name="history"
      width={600}
      label="Commits"
      {...commits}
      columns={sel === undefined ? COLUMNS : COLUMNS_BESIDE}
      keyOf={keyOfCommit}
      narrowedBy={['find']}
      empty={
        isNarrowed ? (
          <EmptyState
            title="Nothing has changed here"
            text="No commit in the history changed this scope. To see other commits, choose all organizations."
          />
        ) : (
          <EmptyState title="Nothing has changed yet" text="Each change appears here, and you can undo it." />
        )
      }
      onClose={close}
      detailLabel="Moment"
      detail={
        at !== undefined && span.data ? (
          <MomentDetail seq={at} oldest={oldest} newest={newest} onClose={close} />
        ) : undefined
      }
    >
      {dialog === 'snapshots' && <SnapshotsDialog snapshots={snapshots} onClose={() => openDialog(undefined)} />}
    </ListScreen>
  );
}
