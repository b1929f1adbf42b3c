import { useCallback, useRef } from 'react';

/** A function with a stable identity that calls the newest version, for components that would otherwise render again. */
export function useSteady<Args extends unknown[], Result>(newest: (...args: Args) => Result) {
  const latest = useRef(newest);
  latest.current = newest;
  return useCallback((...args: Args) => latest.current(...args), []);
}
