import { readdirSync, readFileSync } from 'node:fs';

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

/** Of a process alone; 0 where the system does not tell. */
export function ownProcessorMs(pid: number | undefined): number {
  const fields = pid === undefined ? undefined : fieldsOf(pid);
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) * TICK_MS;
}

function ofTree(pid: number | undefined, measure: (pid: number) => number): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const parents = new Map(
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((name) => [Number(name), parentOf(Number(name))]),
    );
    const isBelow = (one: number | undefined): boolean =>
      one !== undefined && (one === pid || isBelow(parents.get(one)));
    return [...parents.keys()].filter(isBelow).reduce((sum, one) => sum + measure(one), 0);
  } catch {
    return undefined;
  }
}

function parentOf(pid: number): number | undefined {
  return Number(fieldsOf(pid)?.[1]);
}

/** What the system says of a process after its name, which may hold anything: state, parent ...; undefined when it has ended. */
function fieldsOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
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
