import { Camera } from 'lucide-react';
import { useCallback } from 'react';
import { Button } from '../../parts/button.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { CommitFilter } from './commit-filter.tsx';
import { CommitList } from './commit-list.tsx';
import { FoundCommits } from './found-commits.tsx';
import { InstanceMenu } from './instance-menu.tsx';
import { MomentDetail } from './moment-detail.tsx';
import { SnapshotsDialog } from './snapshots-dialog.tsx';
import { TimeLine } from './time-line.tsx';
import { useSnapshots, useSpan } from './use-commits.ts';

const SEQ = /^\d{1,15}$/;

/** The journal as a line that one can walk back: every change of the world, seen, compared, taken back, or gone back to. */
export default function HistoryScreen() {
  const [{ sel, dialog, find = '', scope }, change] = useSearch();
  const span = useSpan();
  const snapshots = useSnapshots();
  const { oldest = 0, newest = 0 } = span.data ?? {};
  const at = sel !== undefined && SEQ.test(sel) ? Math.min(newest, Math.max(oldest, Number(sel))) : undefined;
  const select = useCallback((seq: string) => change({ sel: seq }), [change]);
  const openDialog = (name: string | undefined) => change({ dialog: name });
  return (
    <ScreenFrame
      title="History"
      bar={<CommitFilter />}
      actions={
        <>
          <Button icon={Camera} onPress={() => openDialog('snapshots')}>
            Snapshots
          </Button>
          <InstanceMenu open={dialog} onOpen={openDialog} />
        </>
      }
    >
      {span.data && (
        <TimeLine
          oldest={oldest}
          newest={newest}
          at={at}
          snapshots={snapshots.data ?? []}
          onChange={(seq) => change({ sel: seq === undefined ? undefined : String(seq) })}
        />
      )}
      <SplitPane
        name="history"
        width={600}
        detailLabel="Moment"
        list={
          find.trim() === '' && scope === undefined ? (
            <CommitList span={span} selected={sel} onSelect={select} />
          ) : (
            <FoundCommits text={find} selected={sel} onSelect={select} />
          )
        }
        detail={
          at !== undefined && span.data ? (
            <MomentDetail
              seq={at}
              oldest={oldest}
              newest={newest}
              onClose={() => change({ sel: undefined, rec: undefined })}
            />
          ) : undefined
        }
      />
      {dialog === 'snapshots' && <SnapshotsDialog snapshots={snapshots} onClose={() => openDialog(undefined)} />}
    </ScreenFrame>
  );
}
