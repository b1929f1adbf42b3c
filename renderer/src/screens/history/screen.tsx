import { ArrowDownToLine, ArrowUpFromLine, Camera, FileText, RotateCcw } from 'lucide-react';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { loadAs } from '../../api/client.ts';
import { download } from '../../api/download.ts';
import { keys } from '../../api/query-client.ts';
import { usePages } from '../../api/use-pages.ts';
import { Button } from '../../components/button.tsx';
import type { ListRows } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Menu } from '../../components/menu.tsx';
import { ListScreen } from '../../shell/list-screen.tsx';
import { useSearch } from '../../url.ts';
import { blocksOfRows, seqsOf } from './commit-blocks.ts';
import { COLUMNS, COLUMNS_BESIDE, type CommitRow, keyOfCommit } from './commit-columns.tsx';
import type { CommitPage } from './history-answers.ts';
import { ImportDialog } from './import-dialog.tsx';
import { MomentDetail } from './moment-detail.tsx';
import { ResetDialog } from './reset-dialog.tsx';
import { SnapshotsDialog } from './snapshots-dialog.tsx';
import { TimeLine } from './time-line.tsx';
import { useCommits, useSnapshots, useSpan } from './use-commits.ts';

const SEQ = /^\d{1,15}$/;

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

interface InstanceMenuProps {
  /** The dialog that the address names. */
  open: string | undefined;
  onOpen(name: string | undefined): void;
}

/** Actions on the whole world: export, import, reset. */
function InstanceMenu({ open, onOpen }: InstanceMenuProps) {
  const close = () => onOpen(undefined);
  return (
    <>
      <Menu
        label="Export, import, reset"
        entries={[
          {
            id: 'zip',
            needs: 'root',
            text: 'Export everything (zip)',
            icon: ArrowDownToLine,
            onAction: () => void download('/inspect/archive', 'terrarium.zip'),
          },
          {
            id: 'seed',
            needs: 'root',
            text: 'Export the world as a seed (YAML)',
            icon: FileText,
            onAction: () => void download('/inspect/export', 'world.yaml'),
          },
          {
            id: 'import',
            needs: 'root',
            text: 'Import a file ...',
            icon: ArrowUpFromLine,
            startsGroup: true,
            onAction: () => onOpen('import'),
          },
          {
            id: 'reset',
            needs: 'root',
            text: 'Reset to a seed ...',
            icon: RotateCcw,
            isDanger: true,
            onAction: () => onOpen('reset'),
          },
        ]}
      />
      {open === 'import' && <ImportDialog onClose={close} />}
      {open === 'reset' && <ResetDialog onClose={close} />}
    </>
  );
}

const PAGE = 100;
/** Rows that are read before the visible ones are known. */
const FIRST_RANGE = { first: 0, last: 60 };
const NO_BLOCKS: readonly number[] = [];
const rowsOf = ({ commits }: CommitPage) => commits.map((commit): CommitRow => ({ seq: commit.seq, commit }));
const nextOf = ({ next }: CommitPage) => next;

/** The changes, newest first. Without a filter, only the visible rows are read; with one, the server searches. */
function useCommitList(span: ReturnType<typeof useSpan>): {
  list: ListRows<CommitRow>;
  onDrawn(first: number, last: number): void;
} {
  const [{ find = '', scope }] = useSearch();
  const q = useDeferredValue(find.trim());
  const areSome = find.trim() !== '' || scope !== undefined;
  const found = usePages({
    queryKey: [keys.history, 'found', q, scope],
    read: (before, signal) =>
      loadAs<CommitPage>('/inspect/history', { q: q || undefined, scope, before, limit: PAGE, brief: true }, signal),
    nextOf,
    rowsOf,
    enabled: areSome,
  });
  const [drawn, setDrawn] = useState(FIRST_RANGE);
  const { oldest = 0, newest = 0 } = span.data ?? {};
  const blocks = useMemo(
    () =>
      newest > oldest && !areSome
        ? blocksOfRows(drawn.first, Math.min(drawn.last, newest - oldest - 1), newest)
        : NO_BLOCKS,
    [drawn, oldest, newest, areSome],
  );
  const commits = useCommits(blocks, newest);
  const rows = useMemo(
    () => seqsOf({ oldest, newest }).map((seq): CommitRow => ({ seq, commit: commits.get(seq) })),
    [commits, oldest, newest],
  );
  const onDrawn = useCallback((first: number, last: number) => setDrawn({ first, last }), []);
  return { list: areSome ? found : { ...span, rows }, onDrawn };
}
