import type { ImportView } from '../../../../server/api/routes/history.ts';
import type { AppliedSeed } from '../../../../server/api/routes/seeds.ts';
import type { Difference } from './history-answers.ts';
import { type UploadOptions, upload } from './upload.ts';

/** The kind of a file by its name: an archive of a whole instance, or a seed document. */
export type ImportKind = 'archive' | 'json' | 'yaml';

/** The changes that an import would make or has made. */
export interface ImportOutcome extends Difference {
  /** The commit that it made. */
  commit: number | undefined;
  /** Caught leads that were not there before; of archives only. */
  leads: number | undefined;
  /** Resources whose hidden values have to be set again. */
  hidden: ImportView['hidden'];
  /** The code in the file that will run from then on. */
  runs: readonly CodeToRun[];
}

/** A resource whose code can run after an import, and what triggers it. */
export type CodeToRun = NonNullable<AppliedSeed['runs']>[number];

const TYPES: Record<ImportKind, string> = {
  archive: 'application/zip',
  json: 'application/json',
  yaml: 'application/yaml',
};

/** Undefined when the name says nothing that one could bring in. */
export function kindOf(fileName: string): ImportKind | undefined {
  const [ending] = /[^.]*$/.exec(fileName.toLowerCase()) ?? [];
  if (ending === 'zip') return 'archive';
  if (ending === 'json') return 'json';
  return ending === 'yaml' || ending === 'yml' ? 'yaml' : undefined;
}

/**
 * Imports a file, or only returns the changes that it would make. Throws FailureError.
 * @param importOptions.prune for a seed: deletes resources that it does not contain
 */
export async function importFile(
  file: File,
  kind: ImportKind,
  importOptions: { isDry: boolean; prune: boolean },
  options: Omit<UploadOptions, 'type'>,
): Promise<ImportOutcome> {
  const sending = { ...options, type: TYPES[kind] };
  if (kind === 'archive') {
    const answer = await upload<ImportView>(`/inspect/archive?dryRun=${importOptions.isDry}`, file, sending);
    const { commit, leads, hidden, runs = [], resources = [], total = { create: 0, update: 0, delete: 0 } } = answer;
    return { resources, total, commit: commit?.seq, leads, hidden, runs };
  }
  const path = `/inspect/apply?dryRun=${importOptions.isDry}&prune=${importOptions.prune}`;
  const { commit, summary, changes, runs = [] } = await upload<AppliedSeed>(path, file, sending);
  const resources = changes.flatMap(({ action, path: at, type, id }) =>
    action === 'unchanged' ? [] : [{ id: id ?? at, name: at, path: at, type, action }],
  );
  return { resources, total: summary, commit, leads: undefined, hidden: [], runs };
}
