import type { ImportView } from '../../../../server/api/routes/history.ts';
import type { AppliedSeed } from '../../../../server/api/routes/seeds.ts';
import { answered, ask } from '../../api/client.ts';
import type { Difference } from './history-answers.ts';

/** The kind of a file by its name: an archive of a whole instance, or a seed document. */
export type ImportKind = 'archive' | 'json' | 'yaml';

export interface ImportOutcome extends Difference {
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
 * @param options.prune for a seed: deletes resources that it does not contain
 */
export async function importFile(
  file: File,
  kind: ImportKind,
  { isDry, prune, signal }: { isDry: boolean; prune: boolean; signal: AbortSignal },
): Promise<ImportOutcome> {
  const sending = { body: file.slice(0, file.size, TYPES[kind]), signal };
  if (kind === 'archive') {
    const answer = answered(await ask('POST', '/inspect/archive', { ...sending, query: { dryRun: isDry } }));
    const { commit, leads, hidden, runs = [], resources = [], total = { create: 0, update: 0, delete: 0 } } = answer;
    return { resources, total, commit: commit?.seq, leads, hidden, runs };
  }
  const query = { dryRun: isDry, prune };
  const { commit, summary, changes, runs = [] } = answered(await ask('POST', '/inspect/apply', { ...sending, query }));
  const resources = changes.flatMap(({ action, path, type, id }) =>
    action === 'unchanged' ? [] : [{ id: id ?? path, name: path, path, type, action }],
  );
  return { resources, total: summary, commit, leads: undefined, hidden: [], runs };
}
