import { DraftStore } from '../../draft-store.ts';

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

export const codeDrafts = new DraftStore<CodeDraft>();
/** The changes of a lambda's own variables, by their names. */
export const variableDrafts = new DraftStore<ReadonlyMap<string, VariableChange>>();
