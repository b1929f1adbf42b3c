import { readFile } from 'node:fs/promises';
import { READ_AT_ONCE } from './kept-file.ts';
import { isAlive, lifeOfProcess } from './processes.ts';

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
