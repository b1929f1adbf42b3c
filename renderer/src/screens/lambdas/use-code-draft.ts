import { useEffect, useMemo } from 'react';
import { useDraftOf } from '../../draft-store.ts';
import { sourceOf } from './code-text.ts';
import { codeDrafts } from './drafts.ts';

/**
 * The code of a lambda while it is edited. While there is nothing to lose it follows what is stored; else what somebody else
 * saves is only told of.
 *
 * @param code the lambda's `code` as it is stored now
 */
export function useCodeDraft(lambdaId: string, code: unknown) {
  const stored = useMemo(() => sourceOf(code), [code]);
  const draft = useDraftOf(codeDrafts, lambdaId);
  const { base, baseSource, source } = draft ?? { base: code, baseSource: stored, source: stored };

  // What is stored is what one has written: it was oneself who saved it, or somebody else did the same.
  const isSaved = draft !== undefined && draft.source === stored;
  useEffect(() => {
    if (isSaved) codeDrafts.keep(lambdaId, undefined);
  }, [isSaved, lambdaId]);

  const isDirty = draft !== undefined && !isSaved;
  return {
    /** What one began with, as it is stored. */
    base,
    baseSource,
    source,
    stored,
    isDirty,
    /** Did somebody else save other code meanwhile? */
    isOvertaken: isDirty && draft.base !== code,
    edit: (next: string) =>
      codeDrafts.keep(lambdaId, next === baseSource ? undefined : { base, baseSource, source: next }),
    discard: () => codeDrafts.keep(lambdaId, undefined),
    /** Goes on from what is stored now, with what one has written oneself. */
    rebase: () => draft && codeDrafts.keep(lambdaId, { ...draft, base: code, baseSource: stored }),
  };
}

export type CodeDraftState = ReturnType<typeof useCodeDraft>;
