import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { beginOf } from './processes.ts';

/** The process that made something in an engine, told so that another one can see whether it still lives. */
export const ownerSchema = z.object({
  /** The machine, over its starts; empty where the system has no name for it. */
  machine: z.string(),
  /** This start of the machine; empty where the system does not tell. */
  boot: z.string(),
  /** Among which processes `pid` counts: containers have numbers of their own. */
  pids: z.string(),
  pid: z.int().positive(),
  /** When the process began, in the system's words: numbers of processes are used again. */
  began: z.string(),
  /** The folder that keeps the world; without one it is gone with the process. */
  dataDir: z.string().optional(),
});
export type Owner = z.output<typeof ownerSchema>;

/** What can be said from here of the process that an owner names. `unknown`: it was elsewhere, or at another time. */
export type Life = 'lives' | 'gone' | 'unknown';

/** The processes of the machine itself on Linux: a number that every kernel has. */
const OUTERMOST = 'pid:[4026531836]';

/** This process as an owner. */
export async function ownerHere(dataDir: string | undefined): Promise<Owner> {
  const { pid } = process;
  return { ...here(), pid, began: await beginOf(pid), ...(dataDir !== undefined && { dataDir }) };
}

/** Out of a label; undefined for what no version of ours has written. */
export function readOwner(label: string | undefined): Owner | undefined {
  try {
    return ownerSchema.parse(JSON.parse(label ?? ''));
  } catch {
    return undefined;
  }
}

/** Does the owner's process live? Only who counts processes as the owner does can tell, in the same start of the machine. */
export async function lifeOf(owner: Owner): Promise<Life> {
  const { machine, boot, pids } = here();
  const isNow = owner.boot === '' && boot === '' ? owner.machine === machine : owner.boot === boot;
  if (!isNow || owner.pids !== pids) return 'unknown';
  return (await beginOf(owner.pid)) === owner.began ? 'lives' : 'gone';
}

/** Is what these made of no use to anybody: a world in memory whose process has ended? */
export async function wasInMemory(owners: readonly Owner[]): Promise<boolean> {
  const lives = await Promise.all(owners.map(lifeOf));
  return owners.every(({ dataDir }, at) => dataDir === undefined && lives[at] === 'gone');
}

/** Was the owner on this machine, at whatever start of it, where paths mean what they mean here? */
export function sharesFolders(owner: Owner): boolean {
  const { machine, boot, pids } = here();
  if (owner.pids !== pids) return false;
  if (owner.boot === boot && boot !== '') return true;
  const isOutermost = pids === OUTERMOST || process.platform !== 'linux';
  return isOutermost && machine !== '' && owner.machine === machine;
}

function here(): Pick<Owner, 'machine' | 'boot' | 'pids'> {
  if (process.platform !== 'linux') return { machine: hostname(), boot: '', pids: '' };
  const text = (file: string) => readFileSync(file, 'utf8').trim();
  const orNone = (read: () => string) => {
    try {
      return read();
    } catch {
      return '';
    }
  };
  return {
    machine: orNone(() => text('/etc/machine-id')),
    boot: orNone(() => text('/proc/sys/kernel/random/boot_id')),
    pids: orNone(() => readlinkSync('/proc/self/ns/pid')),
  };
}
