import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState, FailureNote } from '../../parts/empty-state.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { toast } from '../../parts/toasts.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { CommitDetail } from './commit-detail.tsx';
import type { CommitPage, ShownCommit } from './shown-commit.ts';
import { SnapshotMenu } from './snapshot-menu.tsx';

const keyOf = ({ seq }: ShownCommit) => String(seq);
const PAGE = 200;
const COLUMNS: readonly GridColumn<ShownCommit>[] = [
  { id: 'seq', header: 'Commit', width: 76, isMono: true, cell: ({ seq }) => seq },
  {
    id: 'time',
    header: 'Time',
    width: 116,
    isMono: true,
    cell: ({ at }) => (
      <span className="text-muted">
        <Time at={at} as="clock" />
      </span>
    ),
  },
  { id: 'who', header: 'Who', width: 110, cell: ({ cause }) => cause.actor?.name ?? 'the platform' },
  { id: 'via', header: 'Through', width: 76, cell: ({ cause }) => <span className="text-muted">{cause.via}</span> },
  {
    id: 'what',
    header: 'What',
    width: { share: 1, minWidth: 110 },
    cell: ({ cause }) => cause.note ?? cause.action ?? '',
  },
  {
    id: 'resources',
    header: 'Resources',
    width: { share: 2, minWidth: 140 },
    cell: ({ resources }) => <span className="text-muted">{resources.map(({ path }) => path).join(', ')}</span>,
  },
];

/** Every change of the world, newest first: seen, taken back, or gone back to. */
export default function HistoryScreen() {
  const [{ sel, scope }, change] = useSearch();
  const history = useInfiniteQuery({
    queryKey: [keys.history, 'commits'],
    queryFn: ({ pageParam, signal }) =>
      load<CommitPage>(
        '/inspect/history',
        { limit: PAGE, ...(pageParam !== undefined && { before: pageParam }) },
        signal,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }: CommitPage) => next,
  });
  const rows = useMemo(() => history.data?.pages.flatMap(({ commits }) => commits) ?? [], [history.data]);
  const select = useCallback((seq: string) => change({ sel: seq }), [change]);
  const restoring = useMutation({
    mutationFn: (at: number) => send('POST', '/inspect/restore', { at }),
    onSuccess: (_answer, at) => {
      toast({ tone: 'ok', text: `The world is as it was after commit ${at}.` });
      void queryClient.invalidateQueries();
    },
  });
  const chosen = rows.find(({ seq }) => String(seq) === sel);
  return (
    <ScreenFrame
      title="History"
      bar={<span className="text-muted">Every change of the world, newest first</span>}
      actions={
        <>
          {history.hasNextPage && (
            <Button isPending={history.isFetchingNextPage} onPress={() => void history.fetchNextPage()}>
              Older ones
            </Button>
          )}
          <SnapshotMenu />
        </>
      }
    >
      {restoring.error && (
        <div className="p-3">
          <FailureNote failure={failureOf(restoring.error)} />
        </div>
      )}
      <SplitPane
        name="history"
        width={600}
        detailLabel="Commit"
        list={
          <DataGrid
            label="Commits"
            rows={rows}
            columns={COLUMNS}
            keyOf={keyOf}
            selectedKey={sel}
            onSelect={select}
            hrefOf={({ seq }) => hrefOf({ screen: 'history', search: { sel: String(seq) } }, scope)}
            isLoading={history.isPending}
            error={history.error}
            onRetry={() => void history.refetch()}
            empty={
              <EmptyState
                title="Nothing has changed yet"
                text="The world is as it was made. Each change shows up here and can be taken back."
              />
            }
          />
        }
        detail={
          chosen && (
            <CommitDetail
              key={chosen.seq}
              commit={chosen}
              onClose={() => change({ sel: undefined })}
              isRestoring={restoring.isPending}
              onRestore={() => restoring.mutate(chosen.seq)}
            />
          )
        }
      />
    </ScreenFrame>
  );
}
