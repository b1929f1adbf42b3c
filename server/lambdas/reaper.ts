import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Keeps the numbers of the living process groups, and kills what is left of them when its input ends: that is when the
 * emulator is gone, however it went. Then it kills what has left its group, which it knows by the platform in the environment.
 */
const SCRIPT = `
alive=' '
while read -r sign group; do
  case $sign in
    +) alive="$alive$group " ;;
    -) alive="\${alive%% $group *} \${alive#* $group }" ;;
  esac
done
for group in $alive; do kill -9 "-$group" 2>/dev/null; done
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
export class Reaper {
  readonly #platform: string;
  #shell: ChildProcess | undefined;

  /** `platform`: what the processes are known by, see `Origin`. */
  constructor(platform: string) {
    this.#platform = platform;
  }

  /** A process group came to life. */
  add(group: number): void {
    if (process.platform === 'win32') return;
    this.#shell ??= start(this.#platform);
    this.#tell(`+ ${group}\n`);
  }

  /** A process group is gone; its number may soon belong to someone else. */
  remove(group: number): void {
    this.#tell(`- ${group}\n`);
  }

  /** Ends the shell. Everything that has not been removed is killed. */
  stop(): void {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(line);
  }
}

function start(platform: string): ChildProcess {
  // Detached: what ends the emulator's own group, such as Ctrl-C, must not end its reaper before it has done its work.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'reaper', platform], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  // A reaper that cannot start or has been killed is a safety net less, not a failure.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  // As: the pipe is a socket, and one that nobody waits for must not keep the emulator alive.
  (shell.stdin as unknown as { unref?(): void }).unref?.();
  return shell;
}
