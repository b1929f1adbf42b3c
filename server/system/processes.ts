import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { runProgram } from './programs.ts';
import { SYSTEM, type System } from './this-system.ts';
import { READ_AT_ONCE } from './write-whole.ts';

const ZONE = 'UTC';

/** Is a process with this id alive, of any user? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (failure) {
    return Object(failure).code === 'EPERM'; // alive, but of another user
  }
}

/** Is a process running or runnable? False if the system does not provide the state. */
export function isComputing(pid: number | undefined, system = SYSTEM): boolean {
  if (system !== 'linux' || pid === undefined) return false;
  try {
    return statOf(pid)[0] === 'R';
  } catch {
    return false;
  }
}

/** After the program name, which can contain anything: first the state, then the parent; the start time is the twentieth field. */
export function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Start time of a process, which distinguishes it from a later one with the same id; empty if the system does not provide it. */
export async function beginOf(pid: number, system = SYSTEM): Promise<string> {
  if (system === 'linux') {
    try {
      return statOf(pid)[19] ?? '';
    } catch {
      return '';
    }
  }
  // By default `ps` uses the language and time zone of the caller.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const listed = runProgram('ps', ['-o', 'lstart=', '-p', String(pid)], { env });
  const begin = await listed.then(({ stdout }) => stdout.trim()).catch(() => '');
  return begin && `${begin} ${ZONE}`;
}

/** Is the process with that start time still running? `unknown` if its id is in use and one of the start times cannot be compared. */
export async function lifeOfProcess(
  pid: number,
  began: string,
  system = SYSTEM,
): Promise<'lives' | 'gone' | 'unknown'> {
  if (!isAlive(pid)) return 'gone';
  const now = await beginOf(pid, system);
  if (now === began) return 'lives';
  return isComparable(now, system) && isComparable(began, system) ? 'gone' : 'unknown';
}

/** Earlier versions stored start times in the language and time zone of their user. */
function isComparable(begin: string, system: System): boolean {
  return system === 'linux' ? begin !== '' : begin.endsWith(` ${ZONE}`);
}

/** Ids of all processes; none where the system has no `/proc`. */
export function livingPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** The variables that a process was started with, separated by zeros; undefined if the system does not show them. */
export function environmentOf(pid: number): string | undefined {
  return textOf(`/proc/${pid}/environ`);
}

/** Memory that a process does not share, in MB; undefined if the system does not show it. */
export function ownMemoryMb(pid: number, system = SYSTEM): number | undefined {
  if (system !== 'linux') return undefined;
  const [, kilobytes] = /^RssAnon:\s*(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`) ?? '') ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The process that a lock file names: its id and, in the second line, its start time, which files of earlier versions do not have. */
export interface LockHolder {
  pid: number;
  began: string;
}

/** Undefined if the file does not exist or names no process. */
export async function lockHolder(path: string): Promise<LockHolder | undefined> {
  const text = await readFile(path, { encoding: 'utf8', flag: READ_AT_ONCE }).catch(() => '');
  const [id, began = ''] = text.split('\n');
  const pid = Number(id);
  return Number.isInteger(pid) && pid > 0 ? { pid, began } : undefined;
}

/** True if that process is running. Another process can have its id by now. */
export async function isRunning({ pid, began }: LockHolder): Promise<boolean> {
  return began === '' ? isAlive(pid) : (await lifeOfProcess(pid, began)) !== 'gone';
}
