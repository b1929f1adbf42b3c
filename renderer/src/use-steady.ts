import { useCallback, useRef } from 'react';

/** The same function each time, which does what the newest one does: for what is drawn again when it is given another one. */
export function useSteady<Args extends unknown[], Result>(newest: (...args: Args) => Result) {
  const latest = useRef(newest);
  latest.current = newest;
  return useCallback((...args: Args) => latest.current(...args), []);
}
