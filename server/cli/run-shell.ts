import { exitCodeOf, startProgram } from '../system/programs.ts';
import { SYSTEM } from '../system/this-system.ts';
import { STOP_MESSAGE } from './end-with-parent.ts';
import type { Terminal } from './terminal.ts';

/** Passes the arguments of `terrarium start` to the shell as JSON: Chromium would interpret arguments on its command line. */
export const SHELL_ARGUMENTS = 'TERRARIUM_SHELL_ARGUMENTS';

/** If Electron ends this early, in this way, it cannot run: a library, the sandbox or the display is missing. */
const STARTS_WITHIN_MS = 15_000;
const CANNOT_RUN_CODES = [126, 127];
const CRASH_SIGNALS = ['SIGTRAP', 'SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGBUS'];

/** Runs Electron with the shell, which supervises the platform, until it ends. @param stopSignal is passed on to the shell */
export function runShell(
  electron: string,
  shellFile: string,
  args: readonly string[],
  terminal: Pick<Terminal, 'env' | 'folder' | 'isInteractive' | 'nowMs'>,
  stopSignal: Promise<string>,
  system = SYSTEM,
): Promise<{ exitCode: number } | { failure: string }> {
  // Editors built on Electron set ELECTRON_RUN_AS_NODE in their terminals, which prevents a window.
  const { ELECTRON_RUN_AS_NODE: _, ...inherited } = terminal.env;
  const env = { ...inherited, [SHELL_ARGUMENTS]: JSON.stringify(args) };
  const startedAtMs = terminal.nowMs();
  return new Promise((resolve) => {
    const child = startProgram(electron, [shellFile], {
      env,
      cwd: terminal.folder,
      stdio: ['ignore', 'inherit', 'inherit', ...(system === 'win32' ? ['ipc' as const] : [])],
    });
    child.on('error', ({ message }) => {
      if (child.pid === undefined) resolve({ failure: message });
    });
    child.on('exit', (code, signal) => {
      const isEarly = terminal.nowMs() - startedAtMs < STARTS_WITHIN_MS;
      const cannotRun = CANNOT_RUN_CODES.includes(code ?? 0) || CRASH_SIGNALS.includes(signal ?? '');
      if (isEarly && cannotRun) resolve({ failure: `it ended with ${signal ?? `exit code ${code}`}` });
      else resolve({ exitCode: exitCodeOf(code, signal) });
    });
    void stopSignal.then((signal) => {
      // On Windows a signal would end it at once, and a Ctrl+C does not reach it.
      if (system === 'win32') child.send(STOP_MESSAGE, () => undefined);
      // Elsewhere a Ctrl+C at the terminal reaches the shell directly.
      else if (!(terminal.isInteractive && signal === 'SIGINT')) child.kill('SIGTERM');
    });
  });
}
