import { DraftStore } from '../../draft-store.ts';

export interface CodeDraft {
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
export const variableDrafts = new DraftStore<ReadonlyMap<string, VariableChange>>();
