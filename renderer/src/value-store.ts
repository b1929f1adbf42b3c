import { useSyncExternalStore } from 'react';

/** A value that screens watch, kept outside of React. */
export class ValueStore<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of this.#watchers) watcher();
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
}

/** The value now; the component is drawn again when it changes. */
export function useValue<T>(store: ValueStore<T>): T {
  return useSyncExternalStore(store.watch, () => store.value);
}
