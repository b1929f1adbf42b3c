import { useCallback, useEffect, useMemo, useRef } from 'react';
import { DraftStore } from '../../draft-store.ts';
import { useValue } from '../../value-store.ts';
import { type Editable, isEditable, patchBetween } from './resource-patch.ts';
import { type Conflict, isSame, mergeThreeWay } from './three-way-merge.ts';

interface Draft {
  /** The resource as it was when one began. */
  base: Editable;
  mine: Editable;
  /** The text of the JSON editor, while it cannot be read. */
  text?: string;
}

/** Changes that are not applied yet, by id of the resource. */
export const drafts = new DraftStore<Draft>();

/** Are there changes to the resource that are not applied? */
export function useHasDraft(id: string): boolean {
  return useValue(drafts).has(id);
}

/**
 * The changes one is making to a resource.
 *
 * @param current the resource as the server has it now. Where it has changed meanwhile in other places than mine, both changes
 *   are kept; in the same places it is a conflict, and nothing is applied before that is settled.
 */
export function useDraft(id: string, current: Editable) {
  const draft = useValue(drafts).get(id);
  const base = draft?.base ?? current;
  const mine = draft?.mine ?? current;
  const merge = useMemo(() => mergeThreeWay(base, mine, current), [base, mine, current]);
  const patch = useMemo(() => patchBetween(base, mine), [base, mine]);
  const isUnreadable = draft?.text !== undefined;

  const latest = useRef({ base, mine, current });
  latest.current = { base, mine, current };

  // What the others changed elsewhere goes along.
  const hasOthers = draft !== undefined && !isUnreadable && merge.conflicts.length === 0 && !isSame(base, current);
  useEffect(() => {
    if (!hasOthers || !isEditable(merge.merged)) return;
    drafts.keep(id, isSame(merge.merged, current) ? undefined : { base: current, mine: merge.merged });
  }, [hasOthers, merge, id, current]);

  const set = useCallback(
    (next: Editable) => {
      const { base: from } = latest.current;
      drafts.keep(id, isSame(next, from) ? undefined : { base: from, mine: next });
    },
    [id],
  );
  /** A text that is no JSON, or not that of a resource. */
  const setUnreadable = useCallback(
    (text: string) => drafts.keep(id, { base: latest.current.base, mine: latest.current.mine, text }),
    [id],
  );
  /** Goes on from what the server has now, with the side that was chosen for each conflict. */
  const settle = useCallback(
    (chosen: Readonly<Record<string, 'mine' | 'theirs'>>) => {
      const now = latest.current;
      const { merged } = mergeThreeWay(now.base, now.mine, now.current, chosen);
      if (isEditable(merged))
        drafts.keep(id, isSame(merged, now.current) ? undefined : { base: now.current, mine: merged });
    },
    [id],
  );
  return {
    base,
    mine,
    patch,
    conflicts: merge.conflicts as readonly Conflict[],
    isDirty: draft !== undefined,
    /** Set while the JSON cannot be read. */
    unreadable: draft?.text,
    set,
    setUnreadable,
    settle,
    discard: useCallback(() => drafts.keep(id, undefined), [id]),
  };
}

export type DraftState = ReturnType<typeof useDraft>;
