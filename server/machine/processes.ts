import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const NONE = 'there is no such process';

/** Does a process of this number live, whosever it is? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (failure) {
    return Object(failure).code === 'EPERM'; // alive, but somebody else's
  }
}

/** Does a process have a processor, or would if others left one to it? False where the system does not tell. */
export function isComputing(pid: number | undefined): boolean {
  if (process.platform !== 'linux' || pid === undefined) return false;
  try {
    return statOf(pid)[0] === 'R';
  } catch {
    return false;
  }
}

/** Behind the program's name, which may hold anything: state first, then the parent; the begin is the twentieth. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** When a process began, in the system's words: what tells it from a later one of the same number; `NONE` when there is none. */
export async function beginOf(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    try {
      return statOf(pid)[19] ?? '';
    } catch {
      return NONE;
    }
  }
  if (!isAlive(pid)) return NONE;
  const run = promisify(execFile);
  const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  return listed?.stdout.trim() ?? '';
}
