import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

export interface PagesOptions<Page, Row> {
  queryKey: readonly unknown[];
  /** @param from what `nextOf` said of the page before; undefined for the first */
  read(from: number | undefined, signal: AbortSignal): Promise<Page>;
  /** Start of the next page; undefined if there is none. */
  nextOf(last: Page, pages: readonly Page[]): number | undefined;
  /** Returns the rows of a page. Pass the same function in every render. */
  rowsOf(page: Page): readonly Row[];
  /** Default: yes. */
  enabled?: boolean;
}

/** A list that is read page by page, as the user scrolls toward its end. While another list is being read, the previous one is shown. */
export function usePages<Page, Row>({ queryKey, read, nextOf, rowsOf, enabled = true }: PagesOptions<Page, Row>) {
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as number | undefined, // the first page has none
    getNextPageParam: nextOf,
    placeholderData: keepPreviousData,
    enabled,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = pages;
  const rows = useMemo(() => data?.pages.flatMap(rowsOf) ?? [], [data, rowsOf]);
  const loadMore = useMemo(
    () => (hasNextPage && !isFetching ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetching, fetchNextPage],
  );
  return {
    data,
    rows,
    // A page without rows may have a next one.
    isPending: pages.isPending || (rows.length === 0 && isFetching),
    hasMore: hasNextPage,
    isReadingMore: pages.isFetchingNextPage,
    error: pages.error,
    refetch: pages.refetch,
    loadMore,
  };
}
