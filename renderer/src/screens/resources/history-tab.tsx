import type { CommitView } from '../../../../server/api/routes/history.ts';
import { loadAs, send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { usePages } from '../../api/use-pages.ts';
import { Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState, FailureNote } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { useSearch } from '../../url.ts';
import { Comparison } from './comparison.tsx';

interface HistoryPage {
  commits: CommitView[];
  next?: number;
}

const rowsOf = ({ commits }: HistoryPage) => commits;

/** Every commit that changed the resource, also of a deleted one. Two can be compared, and one can be undone. */
export function HistoryTab({ id }: { id: string }) {
  const [{ sel, compare }, change] = useSearch();
  const opened = numberIn(sel);
  const compared = (compare ?? '').split('-').flatMap((text) => numberIn(text) ?? []);
  const history = usePages({
    queryKey: [keys.history, 'of', id],
    read: (before, signal) => loadAs<HistoryPage>('/inspect/history', { resource: id, before }, signal),
    nextOf: ({ next }) => next,
    rowsOf,
  });
  const revert = useChange((seq: number) => send('POST', `/inspect/history/${seq}/revert`, {}), {
    onDone: ({ commit }, seq) => toastCommit(`Commit ${seq} was undone.`, commit?.seq),
  });
  if (!history.data) return <Pending query={history} />;
  const { rows: commits } = history;
  if (commits.length === 0) {
    return <EmptyState title="Never changed" text="It has not changed since the first world of this instance." />;
  }
  const choose = (seq: number, isChosen: boolean) => {
    // A third one takes the place of the first.
    const next = [...compared.filter((comparedSeq) => comparedSeq !== seq), ...(isChosen ? [seq] : [])].slice(-2);
    change({ compare: next.length === 0 ? undefined : next.join('-') });
  };
  const [from, to] = compared.toSorted((a, b) => a - b);
  return (
    <div className="flex flex-col">
      <FailureNote error={revert.error} className="m-3" />
      {from !== undefined && to !== undefined && (
        <section aria-label="Comparison" className="border-b border-line">
          <div className="flex min-h-9 items-center gap-3 px-4 max-sm:flex-wrap max-sm:gap-x-2 max-sm:gap-y-0 max-sm:py-1">
            <span className="flex-1 font-medium">
              After commit {from}, and after commit {to}
            </span>
            <Button look="quiet" onPress={() => change({ compare: undefined })}>
              Close
            </Button>
          </div>
          <Comparison id={id} before={from} after={to} />
        </section>
      )}
      <ol aria-label="Commits">
        {commits.map((commit) => (
          <li key={commit.seq} className="border-b border-line/60">
            <div className="flex min-h-9 items-center gap-3 px-4 max-sm:flex-wrap max-sm:gap-x-2 max-sm:gap-y-0 max-sm:py-1">
              <label className="flex size-6 shrink-0 items-center justify-center">
                <input
                  type="checkbox"
                  className="size-4 accent-(--accent)"
                  aria-label={`Compare commit ${commit.seq} with another`}
                  checked={compared.includes(commit.seq)}
                  onChange={({ target }) => choose(commit.seq, target.checked)}
                />
              </label>
              <span className="mono w-10 text-muted max-sm:w-6">{commit.seq}</span>
              <span className="w-24 shrink-0 text-muted max-sm:w-18">
                <Time at={commit.at} />
              </span>
              <span className="min-w-0 flex-1 truncate max-sm:order-last max-sm:basis-full">
                <span title={pathsOf(commit, id)}>{commit.sentence}</span>
              </span>
              <Button
                look="quiet"
                onPress={() => change({ sel: opened === commit.seq ? undefined : String(commit.seq) })}
              >
                {opened === commit.seq ? 'Hide' : 'Compare'}
              </Button>
              <Button
                isPending={revert.isPending && revert.variables === commit.seq}
                needs="root"
                onPress={() => revert.mutate(commit.seq)}
              >
                Revert
              </Button>
            </div>
            {opened === commit.seq && <Comparison id={id} before={commit.seq - 1} after={commit.seq} />}
          </li>
        ))}
      </ol>
      {history.hasMore && (
        <div className="p-3">
          <Button isPending={history.isReadingMore} onPress={() => history.loadMore?.()}>
            Look further back
          </Button>
        </div>
      )}
    </div>
  );
}

/** The number of a commit as it is in an address. */
function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function pathsOf({ ops }: CommitView, id: string): string {
  const ownOperations = ops
    .filter(({ path }) => path.includes(id))
    .map(({ op, path }) => ({ op, path: path.slice(path.indexOf(id) + id.length) || '/' }));
  // Who changed it when is beside it already.
  const changes = ownOperations.filter(({ path }) => !path.startsWith('/modified'));
  return (changes.length > 0 ? changes : ownOperations).map(({ op, path }) => `${op} ${path}`).join(', ');
}
