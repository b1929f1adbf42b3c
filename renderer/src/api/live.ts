import { announce } from '../components/toasts.tsx';
import { listenTo } from './event-stream.ts';
import { LiveCache } from './live-cache.ts';
import { LiveStream } from './live-stream.ts';
import { queryClient } from './query-client.ts';
import { checkSession } from './session.ts';

/** A server that takes longer counts as gone. */
const PROBE_LIMIT_MS = 10_000;

const cache = new LiveCache(queryClient);

/** The window's only event stream. Each event marks the data under its name (one of `keys`) as old. */
export const live = new LiveStream({
  listen: (listener) => listenTo('/inspect/events', listener),
  schedule: (callback) => {
    // A hidden page renders nothing, but its events must not accumulate.
    if (document.hidden) setTimeout(callback, 500);
    else requestAnimationFrame(callback);
  },
  onTopics: (topics) => cache.apply(topics),
  onReset: () => void queryClient.invalidateQueries(),
  onOpen: () => void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' }),
  isServerReachable: async () => (await checkSession(PROBE_LIMIT_MS)) === 'there',
});

export function togglePause(): void {
  live.togglePause();
  announce(live.isPaused.value ? 'Paused' : 'Live again');
}
