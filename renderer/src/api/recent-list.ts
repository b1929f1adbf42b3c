import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';
import { loadAs, type Query } from './client.ts';
import { queryClient } from './query-client.ts';

/** Something that was recorded; `seq` is its place, which grows without gaps. */
export interface RecordedRow {
  seq: number;
}

/** One answer of a list of recorded things, its rows newest first. */
export interface RecentPage<Row> {
  rows: readonly Row[];
  /** How many the server keeps. */
  total: number;
  /** Place of the newest that there was. */
  newest: number;
  /** Places mean something within one run of the server only. */
  run: string;
  /** `before` of what is older; undefined: nothing is. */
  next?: number | undefined;
}

/** What the window has of such a list. */
export interface RecentList<Row, Page = RecentPage<Row>> {
  /** The newest answer, with all rows that were read. */
  page: Page | undefined;
  rows: readonly Row[];
  total: number;
  isPending: boolean;
  /** Is there more to be had? */
  hasMore: boolean;
  error: unknown;
  refetch(): void;
  /** Reads the next older page; does nothing while one is being read. */
  loadMore(): void;
}

/** What is read at first: many times what is seen at once. */
const FIRST_ROWS = 200;
const PAGE_ROWS = 1000;
/** So many a browser holds with ease; the server keeps no more. */
const MAX_ROWS = 60_000;

export interface RecentListOptions<Answer, Page> {
  /** Its events make the list look for news. */
  topic: string;
  /** E.g. `/inspect/invocations`. */
  path: string;
  /** The filters; others begin another list. */
  filter: Query;
  pageOf(answer: Answer): Page;
}

/** A list of what was recorded, newest first: what is new is put on top, what is older is read when one comes near the end. */
export function useRecentList<Answer, Row extends RecordedRow, Page extends RecentPage<Row> = RecentPage<Row>>(
  options: RecentListOptions<Answer, Page>,
): RecentList<Row, Page> {
  const { topic, path, filter, pageOf } = options;
  const filterText = JSON.stringify(filter);
  const key = useMemo(() => [topic, 'list', path, filterText], [topic, path, filterText]);
  const known = useCallback(() => queryClient.getQueryData<Page>(key), [key]);
  const list = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<Page> => {
      const after = known()?.newest;
      const news = pageOf(await loadAs<Answer>(path, { ...filter, after, limit: FIRST_ROWS }, signal));
      // An older page may have come meanwhile.
      const now = known();
      if (!now || after === undefined) return news;
      const isSameRun = news.run === now.run;
      // More came than one page holds, or the server began anew: the list begins anew, too.
      if (!isSameRun || (news.next !== undefined && news.next > after + 1)) {
        return pageOf(await loadAs<Answer>(path, { ...filter, limit: FIRST_ROWS }, signal));
      }
      return { ...withNews<Row, Page>(now, news.rows), ...beyondRows<Row, Page>(news) };
    },
  });
  const isLoadingMore = useRef(false);
  const next = list.data?.next;
  const loadMore = useCallback(() => {
    if (next === undefined || isLoadingMore.current) return;
    isLoadingMore.current = true;
    // The filter as it is in the key.
    const wanted = { ...(JSON.parse(filterText) as Query), before: next, limit: PAGE_ROWS };
    loadAs<Answer>(path, wanted)
      .then((answer) => {
        const older = pageOf(answer);
        queryClient.setQueryData<Page>(key, (now) => now && withOlder<Row, Page>(now, older, next));
      })
      // The list says what is wrong when it next looks for news; this is asked again when one scrolls on.
      .catch(() => undefined)
      .finally(() => {
        isLoadingMore.current = false;
      });
  }, [next, filterText, path, key, pageOf]);
  return {
    page: list.data,
    rows: list.data?.rows ?? [],
    total: list.data?.total ?? 0,
    isPending: list.isPending,
    hasMore: next !== undefined,
    error: list.error,
    refetch: () => void list.refetch(),
    loadMore,
  };
}

/** All that an answer says besides its rows and where older ones are. */
function beyondRows<Row, Page extends RecentPage<Row>>({ rows: _rows, next: _next, ...rest }: Page) {
  return rest;
}

/** The list with new rows on top; what is over the limit goes and can be read again. */
export function withNews<Row extends RecordedRow, Page extends RecentPage<Row>>(
  known: Page,
  news: readonly Row[],
): Page {
  if (news.length === 0) return known;
  const rows = [...news, ...known.rows].slice(0, MAX_ROWS);
  const isCut = news.length + known.rows.length > MAX_ROWS;
  return { ...known, rows, ...(isCut && { next: rows.at(-1)?.seq }) };
}

/** The list with older rows at its end; the same when that page was not asked from where the list ends now. */
export function withOlder<Row extends RecordedRow, Page extends RecentPage<Row>>(
  known: Page,
  older: RecentPage<Row>,
  askedBefore: number,
): Page {
  if (known.next !== askedBefore) return known;
  return { ...known, rows: [...known.rows, ...older.rows], next: older.next };
}
