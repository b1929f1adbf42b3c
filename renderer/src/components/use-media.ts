import { useSyncExternalStore } from 'react';

/** Returns true while a media query matches. Pass a text that stays the same. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const list = matchMedia(query);
      list.addEventListener('change', watcher);
      return () => list.removeEventListener('change', watcher);
    },
    () => matchMedia(query).matches,
  );
}
