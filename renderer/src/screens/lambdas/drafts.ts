import { ValueStore } from '../../value-store.ts';

/** Code that is being edited. */
export interface CodeDraft {
  /** The `code` that one began with, as it was stored. */
  base: unknown;
  baseSource: string;
  source: string;
}

/** A variable that is being changed; undefined: not there. */
export interface VariableChange {
  base: string | undefined;
  value: string | undefined;
}

type Drafts<T> = ValueStore<ReadonlyMap<string, T>>;

/** What is not saved yet, by id of the lambda: it outlasts a look at something else in the window. */
export const codeDrafts: Drafts<CodeDraft> = new ValueStore<ReadonlyMap<string, CodeDraft>>(new Map());
/** The same of a lambda's own variables, by their names. */
export const variableDrafts: Drafts<ReadonlyMap<string, VariableChange>> = new ValueStore<
  ReadonlyMap<string, ReadonlyMap<string, VariableChange>>
>(new Map());

/** Keeps a draft, or forgets it when it is undefined. */
export function keepDraft<T>(drafts: Drafts<T>, lambdaId: string, draft: T | undefined): void {
  const next = new Map(drafts.value);
  if (draft === undefined) next.delete(lambdaId);
  else next.set(lambdaId, draft);
  drafts.set(next);
}

// Leaving the page with something that is not saved: the browser asks first.
const ask = (event: BeforeUnloadEvent) => event.preventDefault();
function guardLeaving(): void {
  if (codeDrafts.value.size + variableDrafts.value.size > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
}
codeDrafts.watch(guardLeaving);
variableDrafts.watch(guardLeaving);
