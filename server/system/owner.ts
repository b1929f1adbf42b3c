import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { beginOf, lifeOfProcess } from './processes.ts';
import { SYSTEM, type System } from './this-system.ts';

/** The process that created something in an engine, described so that another process can check whether it is alive. */
export const ownerSchema = z.object({
  /** ID of the machine, stable over restarts; empty if the system has none. */
  machine: z.string(),
  /** ID of this boot of the machine; empty if the system has none. */
  boot: z.string(),
  /** The PID namespace of `pid`: containers have separate process ids. */
  pids: z.string(),
  pid: z.int().positive(),
  /** Start time of the process in the format of the system, because process ids are reused. */
  began: z.string(),
  /** The data folder of the world; without one the world ends with the process. */
  dataDir: z.string().optional(),
});
export type Owner = z.output<typeof ownerSchema>;

/** `elsewhere`: it ran on another machine or before a restart; `unknown`: the id exists, but no start time is available. */
export type Life = 'lives' | 'gone' | 'elsewhere' | 'unknown';

/** The initial PID namespace on Linux, whose number is the same in every kernel. */
const OUTERMOST = 'pid:[4026531836]';

export async function ownerHere(dataDir: string | undefined, pid = process.pid, system = SYSTEM): Promise<Owner> {
  return {
    ...machineIdentity(system),
    pid,
    began: await beginOf(pid, system),
    ...(dataDir !== undefined && { dataDir }),
  };
}

export function readOwner(label: string | undefined): Owner | undefined {
  try {
    return ownerSchema.parse(JSON.parse(label ?? ''));
  } catch {
    return undefined;
  }
}

/** Is the owner's process alive? This can only be determined in the same PID namespace and boot. */
export async function lifeOf(owner: Owner, system = SYSTEM): Promise<Life> {
  const { machine, boot, pids } = machineIdentity(system);
  const isNow = owner.boot === '' && boot === '' ? owner.machine === machine : owner.boot === boot;
  return isNow && owner.pids === pids ? lifeOfProcess(owner.pid, owner.began, system) : 'elsewhere';
}

/** Are the owner's resources abandoned: a world in memory whose process has ended? */
export async function wasInMemory(owners: readonly Owner[], system = SYSTEM): Promise<boolean> {
  const lives = await Promise.all(owners.map((owner) => lifeOf(owner, system)));
  return owners.every(({ dataDir }, at) => dataDir === undefined && lives[at] === 'gone');
}

/** Was the owner on this machine, in any boot, so that its paths are valid here? */
export function sharesFolders(owner: Owner, system = SYSTEM): boolean {
  const { machine, boot, pids } = machineIdentity(system);
  if (owner.pids !== pids) return false;
  if (owner.boot === boot && boot !== '') return true;
  const isOutermost = pids === OUTERMOST || system !== 'linux';
  return isOutermost && machine !== '' && owner.machine === machine;
}

function machineIdentity(system: System): Pick<Owner, 'machine' | 'boot' | 'pids'> {
  if (system !== 'linux') return { machine: hostname(), boot: '', pids: '' };
  const text = (file: string) => readFileSync(file, 'utf8').trim();
  const orEmpty = (read: () => string) => {
    try {
      return read();
    } catch {
      return '';
    }
  };
  return {
    machine: orEmpty(() => text('/etc/machine-id')),
    boot: orEmpty(() => text('/proc/sys/kernel/random/boot_id')),
    pids: orEmpty(() => readlinkSync('/proc/self/ns/pid')),
  };
}
