import { readFile } from 'node:fs/promises';
import { environmentOf, livingPids, statOf } from './processes.ts';
import { type ChildProcess, runProgram, startProgram } from './programs.ts';
import { SYSTEM } from './this-system.ts';

/** For a program that leads a process group, so that a signal reaches all in it. Windows has no groups, and would open a window instead. */
export const OWN_GROUP = SYSTEM !== 'win32';
/** A busy machine takes seconds to start such a program. */
const LIST_TIMEOUT_MS = 15_000;
/** Maximum number of searches: a process that is killed may have started another one a moment before. */
const MAX_ROUNDS = 20;

/** Sends a signal to the group that a process leads or led; on Windows to the process. Does nothing if none of it is left. */
export function signalGroup(leader: ChildProcess, signal: NodeJS.Signals, system = SYSTEM): void {
  if (system === 'win32') leader.kill(signal);
  else if (leader.pid !== undefined) kill(-leader.pid, signal);
}

/** Ends a process, its group, and what descends from it in other groups, while the parents of these still run. */
export async function killTree(leader: ChildProcess, system = SYSTEM): Promise<void> {
  const { pid } = leader;
  if (pid === undefined) return;
  if (system === 'win32') await taskkill(pid);
  const below = system === 'win32' ? [] : await descendantsOf([pid], system);
  // By now another process can have its number.
  if (leader.exitCode === null && leader.signalCode === null) signalGroup(leader, 'SIGKILL', system);
  for (const pid of below) kill(pid, 'SIGKILL');
}

/** Ends processes that another one started before it ended, their groups and descendants. Lists the machine's processes once for all. */
export async function killOrphans(pids: Iterable<number>, system = SYSTEM): Promise<void> {
  const roots = [...pids];
  if (system === 'win32') {
    for (const pid of roots) await taskkill(pid);
    return;
  }
  if (roots.length === 0) return;
  for (const pid of [...roots, ...(await descendantsOf(roots, system))]) {
    kill(pid, 'SIGKILL');
    kill(-pid, 'SIGKILL');
  }
}

async function taskkill(pid: number): Promise<void> {
  const args = ['/PID', String(pid), '/T', '/F'];
  await runProgram('taskkill', args, { timeout: LIST_TIMEOUT_MS }).catch(() => undefined);
}

type EnvironmentTest = (environment: string) => boolean | Promise<boolean>;

/** Ends processes of this user that were started with an environment of some kind; nothing where the system does not show it. */
export async function killByEnvironment(matches: EnvironmentTest): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) if (!(await killOnce(matches))) return;
}

async function killOnce(matches: EnvironmentTest): Promise<boolean> {
  let hasKilled = false;
  for (const pid of livingPids()) {
    if (pid === process.pid) continue;
    // Not synchronously: the kernel lets a reader wait, for example while the process starts another program.
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => undefined);
    if (environment === undefined || !(await matches(environment))) continue;
    // The process id may belong to another process by now. There is no wait between this check and the signal.
    if (environmentOf(pid) === environment && kill(pid, 'SIGKILL')) hasKilled = true;
  }
  return hasKilled;
}

export async function descendantsOf(roots: readonly number[], system = SYSTEM): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const [child, parent] of await (system === 'linux' ? parentsHere() : parentsByPs())) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(child);
    else children.set(parent, [child]);
  }
  const tree = new Set(roots);
  for (const pid of tree) for (const child of children.get(pid) ?? []) tree.add(child);
  for (const root of roots) tree.delete(root);
  return [...tree];
}

type Parents = readonly (readonly [pid: number, parent: number])[];

function parentsHere(): Parents {
  return livingPids().flatMap((pid) => {
    try {
      return [[pid, Number(statOf(pid)[1])] as const];
    } catch {
      return []; // It has ended.
    }
  });
}

async function parentsByPs(): Promise<Parents> {
  const listed = await runProgram('ps', ['-A', '-o', 'pid=,ppid='], { timeout: LIST_TIMEOUT_MS }).catch(
    () => undefined,
  );
  return [...(listed?.stdout ?? '').matchAll(/^ *(\d+) +(\d+)$/gm)].map(([, pid, parent]) => [
    Number(pid),
    Number(parent),
  ]);
}

/** Returns false if the process has ended, or has become another user's. */
function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Reads the living process groups; when its input ends, the emulator is gone: kills them, their descendants, and what has the platform in
 * its environment, where `/proc` shows that.
 */
const SCRIPT = `
alive=' '
while read -r sign group; do
  case $sign in
    +) alive="$alive$group " ;;
    -) alive="\${alive%% $group *} \${alive#* $group }" ;;
  esac
done
below=$(ps -A -o pid=,ppid= | awk -v roots="$alive" '
  BEGIN { split(roots, list); for (i in list) known[list[i]] = 1 }
  { pid[NR] = $1; parent[NR] = $2 }
  END {
    do {
      found = 0
      for (i = 1; i <= NR; i++) if (!(pid[i] in known) && parent[i] in known) { known[pid[i]] = found = 1; print pid[i] }
    } while (found)
  }')
for group in $alive; do kill -9 "-$group" 2>/dev/null; done
[ -z "$below" ] || kill -9 $below 2>/dev/null
for round in 1 2 3 4 5; do
  found=$(grep -lsF '"platform":"'"$1"'"' /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}" 2>/dev/null
  done
done
`;

/** Ends lambdas' processes after a `kill -9` of the emulator, even in an endless loop, with one small shell. Windows ends child processes itself. */
export class ProcessReaper {
  readonly #platform: string;
  #shell: ChildProcess | undefined;

  constructor(platform: string) {
    this.#platform = platform;
  }

  add(group: number): void {
    if (SYSTEM === 'win32') return;
    this.#shell ??= start(this.#platform);
    this.#send(`+ ${group}\n`);
  }

  /** A process group is gone; its number may soon belong to someone else. */
  remove(group: number): void {
    this.#send(`- ${group}\n`);
  }

  stop(): void {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #send(line: string): void {
    this.#shell?.stdin?.write(line);
  }
}

function start(platform: string): ChildProcess {
  // Detached: what ends the emulator's own group, such as Ctrl-C, must not end its reaper before it has done its work.
  const shell = startProgram('/bin/sh', ['-c', SCRIPT, 'reaper', platform], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  // A reaper that cannot start or has been killed is a safety net less, not a failure.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  // As: the pipe is a socket, and one that nothing waits for must not keep the emulator alive.
  (shell.stdin as unknown as { unref?(): void }).unref?.();
  return shell;
}
