import { readdirSync, readFileSync } from 'node:fs';
import { livingPids, statOf } from '../../server/system/processes.ts';

/** A clock tick of the system's accounts. */
const TICK_MS = 10;

/** Memory of a process and all below it in MB, what they share counted once; undefined where the system does not tell. */
export function memoryMb(pid: number | undefined): number | undefined {
  return ofTree(pid, shareMb);
}

/** Milliseconds of processors that a process and all that live below it have taken; undefined where the system does not tell. */
export function processorMs(pid: number | undefined): number | undefined {
  return ofTree(pid, ownProcessorMs);
}

/** Returns the processor time of one process alone in milliseconds, or 0 where the system does not report it. */
export function ownProcessorMs(pid: number | undefined): number {
  const fields = pid === undefined ? [] : fieldsOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/** Memory, open descriptors and direct subprocesses of a process; undefined where the system does not report them. */
export function usageOf(
  pid: number | undefined,
): { megabytes: number; descriptors: number; processes: number } | undefined {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const megabytes = Math.round(Number(kilobytes) / 1024);
    return { megabytes, descriptors: readdirSync(`/proc/${pid}/fd`).length, processes: children.length };
  } catch {
    return undefined;
  }
}

function ofTree(pid: number | undefined, measure: (pid: number) => number): number | undefined {
  if (pid === undefined || livingPids().length === 0) return undefined;
  const parents = new Map(livingPids().map((livingPid) => [livingPid, Number(fieldsOf(livingPid)[1])]));
  const isBelow = (candidatePid: number | undefined): boolean =>
    candidatePid !== undefined && (candidatePid === pid || isBelow(parents.get(candidatePid)));
  return [...parents.keys()].filter(isBelow).reduce((sum, treePid) => sum + measure(treePid), 0);
}

/** The fields of `/proc/PID/stat` after the name: state, parent and so on; none if the process has ended. */
function fieldsOf(pid: number): string[] {
  try {
    return statOf(pid);
  } catch {
    return [];
  }
}

function shareMb(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) ?? [];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}
