import { useCallback, useEffect, useMemo } from 'react';
import type { PlatformRecord } from '../../api/use-world.ts';
import { DraftStore, useDraftOf } from '../../draft-store.ts';
import { type Editable, editableOf, isEditable, patchBetween } from './resource-patch.ts';
import { isSame, mergeThreeWay } from './three-way-merge.ts';
import { readOnlyIn, type Schema } from './use-type-schema.ts';

interface Draft {
  base: Editable;
  edited: Editable;
  /** The text of the JSON editor, while it cannot be read. */
  text?: string;
}

/** Changes that are not applied yet, by id of the resource. */
export const drafts = new DraftStore<Draft>();

/**
 * The changes one is making to a resource. Where the server has changed it meanwhile in other places than mine, both changes are
 * kept; in the same places it is a conflict, and nothing is applied before that is settled.
 *
 * @param record as the server has it now
 */
export function useDraft(record: PlatformRecord, schema: Schema) {
  const { id } = record;
  const current = useMemo(() => editableOf(record, readOnlyIn(schema)), [record, schema]);
  const draft = useDraftOf(drafts, id);
  const { base, edited, text }: Draft = draft ?? { base: current, edited: current };
  const merge = useMemo(() => mergeThreeWay(base, edited, current), [base, edited, current]);
  const patch = useMemo(() => patchBetween(base, edited), [base, edited]);
  const keep = useCallback(
    (from: Editable, to: unknown) => {
      if (isEditable(to)) drafts.keep(id, isSame(to, from) ? undefined : { base: from, edited: to });
    },
    [id],
  );

  // Changes of other users elsewhere are merged.
  const hasOthers = draft !== undefined && text === undefined && merge.conflicts.length === 0 && !isSame(base, current);
  useEffect(() => {
    if (hasOthers) keep(current, merge.merged);
  }, [hasOthers, merge, keep, current]);

  return {
    base,
    mine: edited,
    patch,
    conflicts: merge.conflicts,
    isDirty: draft !== undefined,
    /** Set while the JSON cannot be read. */
    unreadable: text,
    set: (next: Editable) => keep(base, next),
    /** A text that is not valid JSON, or not a resource. */
    setUnreadable: (unreadable: string) => drafts.keep(id, { base, edited, text: unreadable }),
    /** Rebases on the server's version, with the chosen side of each conflict. */
    settle: (chosen: Readonly<Record<string, 'mine' | 'theirs'>>) =>
      keep(current, mergeThreeWay(base, edited, current, chosen).merged),
    discard: () => drafts.keep(id, undefined),
  };
}

export type DraftState = ReturnType<typeof useDraft>;
