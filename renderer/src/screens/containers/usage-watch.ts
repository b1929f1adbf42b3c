import type { ContainerUsage } from '../../../../server/api/routes/containers.ts';
export type InstanceUsage = ContainerUsage['instances'][number];

export interface UsageSample {
  atMs: number;
  instances: readonly InstanceUsage[];
}

export interface UsageWatchOptions {
  /** Measures some containers; what cannot be measured is left out. */
  measure(ids: readonly string[]): Promise<readonly ContainerUsage[]>;
  isSeen(): boolean;
  nowMs(): number;
}

/** Time from the end of one measurement, which takes the engine a second or two, to the start of the next. */
const REST_MS = 2_000;
/** As many as the server measures at a time. */
const MAX_AT_ONCE = 50;
/** Samples to keep for the charts of the last minutes. */
const MAX_SAMPLES = 60;

const NONE: readonly UsageSample[] = [];

/**
 * Measures only what is shown: containers are measured from the time that the first place on the page
 * shows them until the last one no longer does, and not while the page is hidden.
 */
export class UsageWatch {
  readonly #options: UsageWatchOptions;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #samples = new Map<string, readonly UsageSample[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isMeasuring = false;

  constructor(options: UsageWatchOptions) {
    this.#options = options;
  }

  /** The oldest first; the same array until there is a new one. */
  samplesOf(id: string): readonly UsageSample[] {
    return this.#samples.get(id) ?? NONE;
  }

  /** Calls back at each new sample of a container until the returned function is called. */
  watch(id: string, watcher: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(watcher));
    // All rows of one drawing are measured together.
    if (!this.#isMeasuring) this.#measureIn(this.samplesOf(id).length === 0 ? 0 : REST_MS);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id);
      if (this.#watchers.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  #measureIn(delayMs: number): void {
    if (this.#timer !== undefined && delayMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#measure();
    }, delayMs);
  }

  async #measure(): Promise<void> {
    this.#isMeasuring = true;
    if (this.#options.isSeen()) {
      const ids = [...this.#watchers.keys()];
      for (let at = 0; at < ids.length; at += MAX_AT_ONCE) await this.#take(ids.slice(at, at + MAX_AT_ONCE));
    }
    this.#isMeasuring = false;
    if (this.#watchers.size > 0) this.#measureIn(REST_MS);
  }

  async #take(ids: readonly string[]): Promise<void> {
    const measured = await this.#options.measure(ids).catch(() => []); // the next time
    const atMs = this.#options.nowMs();
    for (const id of ids) {
      // A container that is gone leaves a gap, so that the last sample does not look current.
      const instances = measured.find(({ containerId }) => containerId === id)?.instances ?? [];
      this.#samples.set(id, [...this.samplesOf(id), { atMs, instances }].slice(-MAX_SAMPLES));
      for (const watcher of this.#watchers.get(id) ?? []) watcher();
    }
  }
}
