import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { loadAs } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { keys } from '../../api/query-client.ts';
import type { ListRows } from '../../components/data-grid.tsx';
import { useSearch } from '../../url.ts';
import { blocksOfRows, seqsOf } from './commit-blocks.ts';
import type { CommitRow } from './commit-columns.tsx';
import type { CommitPage } from './history-answers.ts';
import { useCommits, type useSpan } from './use-commits.ts';

const PAGE = 100;
/** Until it is known what is in sight. */
const FIRST_RANGE = { first: 0, last: 60 };
const NO_BLOCKS: readonly number[] = [];
const rowsOf = ({ commits }: CommitPage) => commits.map((commit): CommitRow => ({ seq: commit.seq, commit }));
const nextOf = ({ next }: CommitPage) => next;

/**
 * The changes that are kept, newest first: all of them, however many there are, of which only those in sight are read; or those of
 * the scope, and those that the words in the address are about, for which the server looks.
 */
export function useCommitList(span: ReturnType<typeof useSpan>): {
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
