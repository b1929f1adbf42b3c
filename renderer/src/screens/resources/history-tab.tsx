import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { EmptyState, ErrorState, FailureNote } from '../../parts/empty-state.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { toast } from '../../parts/toasts.tsx';

/** One commit, as `GET /inspect/history` gives it. */
interface CommitRow {
  seq: number;
  at: string;
  cause?: { actor?: { name?: string }; action?: string; via?: string };
  actor?: { name?: string };
  action?: string;
  ops?: { op: string; path: string }[];
}

/** Every commit that changed the resource; two can be compared, one taken back. */
export function HistoryTab({ record }: { record: PlatformRecord }) {
  const [chosen, setChosen] = useState<number>();
  const history = useQuery({
    queryKey: [keys.history, 'of', record.id, record.modified?.timestamp],
    queryFn: ({ signal }) => load<{ commits: CommitRow[] }>('/inspect/history', { resource: record.id }, signal),
  });
  const revert = useMutation({
    mutationFn: (seq: number) => send('POST', `/inspect/history/${seq}/revert`, {}),
    onSuccess: (_answer, seq) => {
      toast({ tone: 'ok', text: `Commit ${seq} was taken back by a new one.` });
      void queryClient.invalidateQueries();
    },
  });
  if (history.error) return <ErrorState error={history.error} onRetry={() => void history.refetch()} />;
  if (!history.data) return <Skeleton />;
  const { commits } = history.data;
  if (commits.length === 0) {
    return <EmptyState title="Never changed" text="It is as it came with the first world of this instance." />;
  }
  return (
    <div className="flex flex-col">
      {revert.error && (
        <div className="p-3">
          <FailureNote failure={failureOf(revert.error)} />
        </div>
      )}
      <ol>
        {commits.map((commit) => (
          <li key={commit.seq} className="border-b border-line/60">
            <div className="flex min-h-9 items-center gap-3 px-4">
              <span className="mono w-10 text-muted">{commit.seq}</span>
              <span className="w-24 text-muted">
                <Time at={commit.at} />
              </span>
              <span className="min-w-0 flex-1 truncate">
                {actionOf(commit)} <span className="text-muted">{pathsOf(commit, record.id)}</span>
              </span>
              <Button look="quiet" onPress={() => setChosen(chosen === commit.seq ? undefined : commit.seq)}>
                {chosen === commit.seq ? 'Hide' : 'Compare'}
              </Button>
              <Button
                isPending={revert.isPending && revert.variables === commit.seq}
                onPress={() => revert.mutate(commit.seq)}
              >
                Revert
              </Button>
            </div>
            {chosen === commit.seq && <Comparison seq={commit.seq} id={record.id} />}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The resource before and after a commit. */
function Comparison({ seq, id }: { seq: number; id: string }) {
  const { data, error } = useQuery({
    queryKey: [keys.history, 'before and after', id, seq],
    queryFn: async ({ signal }) => {
      const at = (moment: number) =>
        load<unknown>('/inspect/world', { at: moment, resource: id }, signal)
          .then((record) => JSON.stringify(record, null, 2))
          // Before its first commit, and after its last, it is not there.
          .catch((thrown) => {
            if (failureOf(thrown).code === 404) return '';
            throw thrown;
          });
      const [before, after] = await Promise.all([at(seq - 1), at(seq)]);
      return { before, after };
    },
  });
  if (error) return <ErrorState error={error} />;
  if (!data) return <Skeleton rows={4} />;
  return (
    <div className="h-80 border-t border-line">
      <DiffEditor label={`What commit ${seq} changed`} before={data.before} after={data.after} language="json" />
    </div>
  );
}

function actionOf(commit: CommitRow): string {
  const action = commit.cause?.action ?? commit.action ?? 'change';
  const name = commit.cause?.actor?.name ?? commit.actor?.name;
  return name ? `${action} by ${name}` : action;
}

function pathsOf({ ops = [] }: CommitRow, id: string): string {
  return ops
    .filter(({ path }) => path.includes(id))
    .map(({ op, path }) => `${op} ${path.slice(path.indexOf(id) + id.length) || '/'}`)
    .join(', ');
}
