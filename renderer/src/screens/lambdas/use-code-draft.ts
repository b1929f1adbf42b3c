import { useEffect, useMemo } from 'react';
import { useDraftOf } from '../../draft-store.ts';
import { sourceOf } from './code-text.ts';
import { type CodeDraft, codeDrafts } from './drafts.ts';

/**
 * The code of a lambda while it is edited. Without unsaved changes it follows the stored code; with unsaved changes it only reports
 * that another user saved.
 *
 * @param code the lambda's `code` as it is stored now
 */
export function useCodeDraft(lambdaId: string, code: unknown) {
  const stored = useMemo(() => sourceOf(code), [code]);
  const draft = useDraftOf(codeDrafts, lambdaId);
  const { base, baseSource, source, sentSource }: CodeDraft = draft ?? {
    base: code,
    baseSource: stored,
    source: stored,
  };

  // The stored code equals the draft: it was saved here, or another user made the same change.
  const isSaved = draft !== undefined && draft.source === stored;
  // What was sent is stored, and more has been typed since.
  const isSentSaved = draft !== undefined && !isSaved && sentSource === stored;
  useEffect(() => {
    if (isSaved) codeDrafts.keep(lambdaId, undefined);
    if (isSentSaved) codeDrafts.keep(lambdaId, { base: code, baseSource: stored, source });
  }, [isSaved, isSentSaved, lambdaId, code, stored, source]);

  const isDirty = draft !== undefined && !isSaved;
  return {
    base,
    baseSource,
    source,
    stored,
    isDirty,
    /** Did another user save different code? */
    isOutdated: isDirty && draft.base !== code && !isSentSaved,
    edit: (next: string) =>
      codeDrafts.keep(lambdaId, next === baseSource ? undefined : { base, baseSource, source: next, sentSource }),
    discard: () => codeDrafts.keep(lambdaId, undefined),
    send: () => draft && codeDrafts.keep(lambdaId, { ...draft, sentSource: source }),
    rebase: () => draft && codeDrafts.keep(lambdaId, { ...draft, base: code, baseSource: stored }),
  };
}

export type CodeDraftState = ReturnType<typeof useCodeDraft>;
