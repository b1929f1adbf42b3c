import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { git } from './git.ts';
import { CANCELED, PipelineError } from './pipeline-error.ts';

/** Time between two looks; longer where a look takes long. */
const LOOK_EVERY_MS = 250;
const LOOKS_SHARE = 10;

/**
 * Runs an action now, and again whenever the commit or the files of a repository have changed, except ignored files.
 * Changes in quick succession count as one. Git is asked, because file systems do not report all changes, and every
 * folder would need a watch.
 * @throws PipelineError when the signal is aborted
 */
export async function onChanges(dir: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  let tookMs = 0;
  const look = async () => {
    await pause(Math.max(LOOK_EVERY_MS, tookMs * LOOKS_SHARE), undefined, { signal }).catch(() => {
      throw new PipelineError('canceled', CANCELED);
    });
    const startedAtMs = performance.now();
    const state = await stateOf(dir, signal).catch(String);
    tookMs = performance.now() - startedAtMs;
    return state;
  };
  for (;;) {
    const before = await stateOf(dir, signal).catch(String);
    await act();
    let state = await look();
    while (state === before) state = await look();
    for (let next = await look(); next !== state; next = await look()) state = next;
  }
}

/** The commit, and which files differ from it since when. */
export async function stateOf(dir: string, signal?: AbortSignal): Promise<string> {
  const top = await git(dir, ['rev-parse', '--show-toplevel'], { signal });
  const status = await git(top, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all'], { signal });
  const listed = await git(top, ['ls-files', '-z', '--modified', '--others', '--exclude-standard'], { signal });
  const paths = listed.split('\0').filter(Boolean);
  const times = await Promise.all(
    paths.map((path) =>
      lstat(join(top, path)).then(
        ({ mtimeMs, size }) => [mtimeMs, size],
        () => [],
      ),
    ),
  );
  return JSON.stringify([status, paths, times]);
}
