import { DraftStore } from '../../draft-store.ts';

/** Code that is being edited. */
export interface CodeDraft {
  /** The stored `code` at the start of the edit. */
  base: unknown;
  baseSource: string;
  source: string;
  /** The source that was last sent to be saved; the user can continue to type meanwhile. */
  sentSource?: string | undefined;
}

/** A variable that is being changed; undefined: not there. */
export interface VariableChange {
  base: string | undefined;
  value: string | undefined;
}

export const codeDrafts = new DraftStore<CodeDraft>();
/** The changes of a lambda's own variables, by their names. */
export const variableDrafts = new DraftStore<ReadonlyMap<string, VariableChange>>();
