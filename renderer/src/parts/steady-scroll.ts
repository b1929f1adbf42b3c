import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { findNear } from './grid-layout.ts';

/** Keeps the first row that one sees where it is when rows come or go above it; at the very top the newest stays in sight. */
export function useSteadyScroll<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  rowHeight: number,
): void {
  const anchor = useRef<{ key: string; index: number; offset: number } | undefined>(undefined);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const note = () => {
      const index = Math.floor(element.scrollTop / rowHeight);
      const row = rows[index];
      anchor.current =
        element.scrollTop <= 0 || row === undefined
          ? undefined
          : { key: keyOf(row), index, offset: element.scrollTop - index * rowHeight };
    };
    note();
    element.addEventListener('scroll', note, { passive: true });
    return () => element.removeEventListener('scroll', note);
  }, [scroller, rows, keyOf, rowHeight]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const kept = anchor.current;
    if (!element || !kept) return;
    const index = findNear(rows, keyOf, kept.key, kept.index);
    if (index === undefined || index === kept.index) return;
    element.scrollTop = index * rowHeight + kept.offset;
    anchor.current = { ...kept, index };
  }, [scroller, rows, keyOf, rowHeight]);
}
