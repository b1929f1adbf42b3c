import type { ImportView } from '../../../../server/api/routes/history.ts';
import type { AppliedSeed } from '../../../../server/api/routes/seeds.ts';
import { type Failure, FailureError } from '../../api/failure.ts';
import { sessionHeaders } from '../../api/session-key.ts';
import { sessionState } from '../../api/session-state.ts';
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

/** Time limit of the response after the upload. */
const ANSWER_TIMEOUT_MS = 10 * 60_000;

interface UploadOptions {
  type: string;
  signal: AbortSignal;
  /** Called with the share of the file that is on the server, 0 to 1. */
  onProgress(share: number): void;
}

/** Posts a file and says how far it is, which fetch cannot. Throws FailureError. */
function upload<T>(path: string, file: Blob, { type, signal, onProgress }: UploadOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const sessionBefore = sessionState.value;
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.responseType = 'json';
    request.timeout = ANSWER_TIMEOUT_MS;
    request.setRequestHeader('Content-Type', type);
    request.setRequestHeader('X-Terrarium-Client', 'ui');
    for (const [header, value] of Object.entries(sessionHeaders())) request.setRequestHeader(header, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => total > 0 && onProgress(loaded / total));
    const fail = (kind: Failure['kind'], message: string, details: Failure['details'] = []) =>
      reject(new FailureError({ kind, code: request.status, message, details }));
    request.addEventListener('load', () => {
      // The form of the server's answers is in its OpenAPI document.
      if (request.status < 400) return resolve(request.response as T);
      if (request.status === 401 && sessionState.value === sessionBefore) sessionState.expire();
      const { message, details } = Object(request.response);
      fail(request.status === 401 ? 'signed-out' : 'refused', message ?? `the response was ${request.status}`, details);
    });
    request.addEventListener('error', () => fail('offline', 'the server does not respond, or the file cannot be read'));
    request.addEventListener('timeout', () => fail('offline', 'the server took too long to respond'));
    request.addEventListener('abort', () => fail('refused', 'the upload was canceled; nothing was changed'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
