import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Terminal } from './terminal.ts';

/** Hands the arguments of `terrarium start` to the shell, as JSON: Chromium would take those on its command line for its own. */
export const SHELL_ARGUMENTS = 'TERRARIUM_SHELL_ARGUMENTS';

/** An Electron that ends this early, in this way, could not run at all: no library, no sandbox, no display. */
const STARTS_WITHIN_MS = 15_000;
const CANNOT_RUN_CODES = [126, 127];
const CRASH_SIGNALS = ['SIGTRAP', 'SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGBUS'];

/** How the shell ended: with an exit code, or it could not start and why. */
export type ShellEnd = { exitCode: number } | { failure: string };

/**
 * Runs Electron with the shell, which starts and watches over the platform, until it ends.
 *
 * @param args what stands behind `terrarium start`
 * @param stopSignal resolves when we are told to stop; the shell is told, too
 */
export function runShell(
  electron: string,
  shellFile: string,
  args: readonly string[],
  terminal: Pick<Terminal, 'env' | 'folder' | 'isInteractive' | 'nowMs'>,
  stopSignal: Promise<string>,
): Promise<ShellEnd> {
  // Editors built on Electron leave ELECTRON_RUN_AS_NODE in their terminals; with it there would be no window.
  const { ELECTRON_RUN_AS_NODE: _, ...inherited } = terminal.env;
  const env = { ...inherited, [SHELL_ARGUMENTS]: JSON.stringify(args) };
  const startedAtMs = terminal.nowMs();
  return new Promise((resolve) => {
    const child = spawn(electron, [shellFile], { env, cwd: terminal.folder, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', ({ message }) => {
      if (child.pid === undefined) resolve({ failure: message });
    });
    child.on('exit', (code, signal) => {
      const isEarly = terminal.nowMs() - startedAtMs < STARTS_WITHIN_MS;
      const cannotRun = CANNOT_RUN_CODES.includes(code ?? 0) || CRASH_SIGNALS.includes(signal ?? '');
      if (isEarly && cannotRun) resolve({ failure: `it ended with ${signal ?? `exit code ${code}`}` });
      else resolve({ exitCode: signal ? 128 + constants.signals[signal] : (code ?? 0) });
    });
    void stopSignal.then((signal) => {
      // A Ctrl+C at the keyboard reaches the shell by itself.
      if (!(terminal.isInteractive && signal === 'SIGINT')) child.kill('SIGTERM');
    });
  });
}
