import { isAlive as exists, statOf } from '../system/processes.ts';

/** Is a process running? An ended process that was not waited for (a zombie) is not. */
export function isAlive(pid: number): boolean {
  if (!exists(pid)) return false;
  try {
    return statOf(pid)[0] !== 'Z';
  } catch {
    // Without /proc the system cleans up orphans.
    return true;
  }
}
