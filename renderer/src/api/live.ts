import { announce } from '../parts/toasts.tsx';
import { listenTo } from './event-stream.ts';
import { LiveCache } from './live-cache.ts';
import { LiveStream } from './live-stream.ts';
import { queryClient } from './query-client.ts';
import { checkSession } from './session.ts';

const cache = new LiveCache(queryClient);

/** The window's one stream of events: each makes old what was read under its name, one of `keys`. */
export const live = new LiveStream({
  listen: (listener) => listenTo('/inspect/events', listener),
  schedule: (callback) => {
    // A hidden page draws nothing, yet its lists shall not pile up.
    if (document.hidden) setTimeout(callback, 500);
    else requestAnimationFrame(callback);
  },
  onNews: (topics) => cache.apply(topics),
  onReset: () => void queryClient.invalidateQueries(),
  onOpen: () => void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' }),
  isServerThere: async () => (await checkSession()) === 'there',
});

/** Holds everything as it is, or lets it go on, and says so. */
export function togglePause(): void {
  live.togglePause();
  announce(live.isPaused.value ? 'Paused' : 'Live again');
}
