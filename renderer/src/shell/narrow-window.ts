import { useSyncExternalStore } from 'react';

/** Below it the rail shows icons only and the addresses are behind a button; a window at 200 % counts as half as wide. */
const narrow = matchMedia('(width < 1024px)');

function watch(watcher: () => void): () => void {
  narrow.addEventListener('change', watcher);
  return () => narrow.removeEventListener('change', watcher);
}

/** Is there too little width for everything? */
export function useIsNarrowWindow(): boolean {
  return useSyncExternalStore(watch, () => narrow.matches);
}
