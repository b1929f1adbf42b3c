import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import type { ListRows } from '../components/data-grid.tsx';
import { useSteady } from '../use-steady.ts';
import { load, type Query } from './client.ts';
import { queryClient } from './query-client.ts';
import type { AnswerAt } from './routes.ts';

/** Something that was recorded; `seq` is its place, which grows without gaps. */
export interface RecordedRow {
  seq: number;
}

/** One response with recorded entries, newest first. */
export interface RecentPage<Row> {
  rows: readonly Row[];
  /** Number of records that the server keeps, if it counts them. */
  total?: number;
  /** Place of the newest that there was. */
  newest: number;
  /** Places mean something within one run of the server only. */
  run: string;
  /** `before` of what is older; undefined: nothing is. */
  next?: number | undefined;
}

/** The state of a recent list in the window; `page` is the newest response, whose rows are all that were read. */
export interface RecentList<Row, Page = unknown> extends Required<ListRows<Row>> {
  page: Page | undefined;
  total: number;
  source: ListSource;
  /** The row of a place, which may be far in the past. */
  readAt(seq: number): Promise<Row | undefined>;
}

/** The topic, path and filter from which the rows of a list are read. */
export interface ListSource {
  topic: string;
  path: string;
  filter: Query;
}

/** Size of the first read: many times the visible rows. */
const FIRST_ROWS = 200;
const PAGE_ROWS = 1000;
/** Number of rows that a browser can keep; the server keeps no more. */
const MAX_ROWS = 60_000;

/** The rows of an answer that stand under this name. */
type RowsIn<Answer, Name> = Name extends keyof Answer
  ? Answer[Name] extends readonly (infer Row extends RecordedRow)[]
    ? Row
    : never
  : never;

/**
 * A list of records, newest first. New records are added at the top, older ones are read as the user scrolls toward the end.
 * @param topic its events make the list look for new records
 * @param name member with the rows in a response, such as `invocations`
 * @param filter another filter starts another list
 */
export function useRecentList<const P extends string, const Name extends string>(
  topic: string,
  path: P,
  name: Name,
  filter: Query,
): RecentList<RowsIn<AnswerAt<'GET', P>, Name>, AnswerAt<'GET', P>> {
  type Row = RowsIn<AnswerAt<'GET', P>, Name>;
  type Page = RecentPage<Row> & AnswerAt<'GET', P>;
  const queryKey = [topic, 'list', path, filter];
  const read = async (query: Query, signal?: AbortSignal): Promise<Page> => {
    // As: what the rows of such lists say of their answers.
    const { [name]: rows, ...page } = (await load(path, query, signal)) as Page & Record<string, unknown>;
    return { ...page, rows } as unknown as Page;
  };
  const readCachedPage = () => queryClient.getQueryData<Page>(queryKey);
  const list = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Page> => {
      const after = readCachedPage()?.newest;
      const newerPage = await read({ ...filter, after, limit: FIRST_ROWS }, signal);
      // An older page may have arrived.
      const now = readCachedPage();
      if (!now || after === undefined) return newerPage;
      const isSameRun = newerPage.run === now.run;
      // More arrived than fits into one page, or the server restarted: the list starts from the beginning.
      if (!isSameRun || (newerPage.next !== undefined && newerPage.next > after + 1)) {
        return read({ ...filter, limit: FIRST_ROWS }, signal);
      }
      return mergeNewer<Row, Page>(now, newerPage);
    },
  });
  const isLoadingMore = useRef(false);
  const readBefore = useSteady(async (before: number) => {
    if (isLoadingMore.current) return;
    isLoadingMore.current = true;
    // The list says what is wrong when it next looks for news; this is asked again when one scrolls on.
    const older = await read({ ...filter, before, limit: PAGE_ROWS }).catch(() => undefined);
    isLoadingMore.current = false;
    if (older) queryClient.setQueryData<Page>(queryKey, (now) => now && withOlder<Row, Page>(now, older, before));
  });
  const { data } = list;
  const loadMore = useMemo(() => () => void (data?.next !== undefined && readBefore(data.next)), [data, readBefore]);
  return {
    source: { topic, path, filter },
    readAt: async (seq) => (await read({ before: seq + 1, limit: 1 })).rows[0],
    page: data,
    rows: data?.rows ?? [],
    total: data?.total ?? 0,
    isPending: list.isPending,
    hasMore: data?.next !== undefined,
    error: list.error,
    refetch: () => void list.refetch(),
    loadMore,
  };
}

/** The list from the response, with the new rows at the top; rows above the limit are dropped and can be read again. */
export function mergeNewer<Row extends RecordedRow, Page extends RecentPage<Row>>(
  cachedPage: Page,
  newerPage: Page,
): Page {
  const all = [...newerPage.rows, ...cachedPage.rows];
  const rows = newerPage.rows.length === 0 ? cachedPage.rows : all.slice(0, MAX_ROWS);
  return { ...newerPage, rows, next: all.length > MAX_ROWS ? rows.at(-1)?.seq : cachedPage.next };
}

/** The list with older rows at its end; unchanged if the page does not start at the current end of the list. */
export function withOlder<Row extends RecordedRow, Page extends RecentPage<Row>>(
  cachedPage: Page,
  older: RecentPage<Row>,
  requestedBefore: number,
): Page {
  if (cachedPage.next !== requestedBefore) return cachedPage;
  return { ...cachedPage, rows: [...cachedPage.rows, ...older.rows], next: older.next };
}
