import { type RefObject, useLayoutEffect, useRef } from 'react';
import { findNear } from './grid-layout.ts';

export interface Viewport<Row> {
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Pixels. */
  rowHeight: number;
  top: number;
}

/**
 * Returns the scroll position at which the first visible row stays where it is, or undefined if there is nothing to do.
 * @param top how far it is scrolled now. A browser tells of scrolling only with its next picture, so that may be
 * elsewhere than what was noted.
 * @param mostTop the last possible position; removed rows may have caused it
 */
export function steadyTop<Row>(
  sight: Viewport<Row>,
  rows: readonly Row[],
  top: number,
  mostTop: number,
): number | undefined {
  const { keyOf, rowHeight } = sight;
  const seenTop = top < mostTop ? top : sight.top;
  const index = Math.floor(seenTop / rowHeight);
  const first = sight.rows[index];
  // At the very top the newest stays in sight.
  if (seenTop <= 0 || first === undefined) return undefined;
  const now = findNear(rows, keyOf, keyOf(first), index);
  return now === undefined || now === index ? undefined : seenTop + (now - index) * rowHeight;
}

/** Keeps the first visible row in place when rows above it are added or removed; at the very top, the newest stays visible. */
export function useSteadyScroll<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  rowHeight: number,
): void {
  const sight = useRef<Viewport<Row> | undefined>(undefined);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const note = (top = element.scrollTop) => {
      sight.current = { rows, keyOf, rowHeight, top };
    };
    const before = sight.current;
    // At the very top, the list is not measured, because the browser would lay out new rows once more.
    if (before === undefined || before.top <= 0) note(0);
    else {
      const top = steadyTop(before, rows, element.scrollTop, element.scrollHeight - element.clientHeight);
      if (top !== undefined) element.scrollTop = top;
      note();
    }
    const onScroll = () => note();
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [scroller, rows, keyOf, rowHeight]);
}
