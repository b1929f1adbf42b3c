import { useSyncExternalStore } from 'react';
import { sessionState } from './api/session-state.ts';
import { ValueStore } from './value-store.ts';

/** Unsaved edits by the id of the edited resource: they are kept while the user looks at other screens. */
export class DraftStore<T> extends ValueStore<ReadonlyMap<string, T>> {
  constructor() {
    super(new Map());
    sessionState.whenUserLeaves(() => this.set(new Map()));
    // Leaving the page with something that is not saved: the browser asks first.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    this.watch(() => {
      if (this.value.size > 0) window.addEventListener('beforeunload', ask);
      else window.removeEventListener('beforeunload', ask);
    });
  }

  /** Keeps a draft, or forgets it when it is undefined. */
  keep(id: string, draft: T | undefined): void {
    const next = new Map(this.value);
    if (draft === undefined) next.delete(id);
    else next.set(id, draft);
    this.set(next);
  }
}

/** The draft of something; the component is drawn again when that one changes, and not with others. */
export function useDraftOf<T>(store: DraftStore<T>, id: string): T | undefined {
  return useSyncExternalStore(store.watch, () => store.value.get(id));
}

export function useHasDraft(store: DraftStore<unknown>, id: string): boolean {
  return useSyncExternalStore(store.watch, () => store.value.has(id));
}
