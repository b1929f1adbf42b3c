import { useCallback, useSyncExternalStore } from 'react';
import { load } from '../../api/client.ts';
import { type UsageSample, UsageWatch } from './usage-watch.ts';

const usage = new UsageWatch({
  measure: (ids) => load('/inspect/containers/stats', { ids: ids.join(',') }),
  isSeen: () => !document.hidden,
  nowMs: () => Date.now(),
});
const NO_WATCH = () => () => {};

/**
 * Returns the samples of a container's usage since it is shown, the oldest first. The usage is measured while the
 * caller is on the page.
 * @param isOn without it nothing is measured: what does not run uses nothing
 */
export function useUsage(id: string, isOn: boolean): readonly UsageSample[] {
  const watch = useCallback((watcher: () => void) => usage.watch(id, watcher), [id]);
  return useSyncExternalStore(isOn ? watch : NO_WATCH, () => usage.samplesOf(id));
}
