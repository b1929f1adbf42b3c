import { type ChildProcess, startProgram } from './programs.ts';
import { SYSTEM } from './this-system.ts';

/**
 * Keeps the numbers of the living process groups, and kills what is left of them when its input ends: that is when the
 * emulator is gone, however it went. With them it kills what descends from their leaders in other groups, and then what has the platform in
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

/**
 * Sees to it that no lambda's process outlives the emulator, not even one in an endless loop after a `kill -9` of the
 * emulator: such a process never notices that its control channel has closed. One small shell does it for all. (On Windows
 * the system itself ends child processes that are not detached.)
 */
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
