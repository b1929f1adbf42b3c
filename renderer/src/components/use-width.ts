import { type RefObject, useLayoutEffect, useState } from 'react';

/** The inner width of an element in pixels, as it changes; 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return undefined;
    const note = () => setWidth(observed.clientWidth);
    note();
    const observer = new ResizeObserver(note);
    observer.observe(observed);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
