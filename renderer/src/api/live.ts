import { addressOf } from './client.ts';
import { EventStream } from './event-stream.ts';
import { LiveCache } from './live-cache.ts';
import { LiveStream } from './live-stream.ts';
import { keys, queryClient } from './query-client.ts';
import { checkSession } from './session.ts';

/** The kinds of events that the server sends; each updates what was read under the same name. */
const NAMES = Object.values(keys);

const cache = new LiveCache(queryClient);

/** The window's one stream of events. */
export const live = new LiveStream({
  open: (after) => new EventStream(addressOf('/inspect/events', { after })),
  names: NAMES,
  schedule: (callback) => {
    // A hidden page draws nothing, yet its lists shall not pile up.
    if (document.hidden) setTimeout(callback, 500);
    else requestAnimationFrame(callback);
  },
  nowMs: () => performance.now(),
  onEvents: (events) => cache.apply(events),
  onReset: () => void queryClient.invalidateQueries(),
  isServerThere: async () => (await checkSession()) === 'there',
});
