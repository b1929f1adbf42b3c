import { type ExecFileOptions, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { SYSTEM } from './this-system.ts';

export type { ChildProcess, SpawnOptions } from 'node:child_process';

/** A console window that Windows would open for each program. */
const HIDDEN = { windowsHide: true };

/** Electron's program is Node.js only with a variable. */
export function optionsFor<T extends { env?: NodeJS.ProcessEnv | undefined }>(
  file: string,
  options: T,
  versions: Readonly<Record<string, string | undefined>> = process.versions,
) {
  const isElectron = file === process.execPath && versions.electron !== undefined;
  return {
    ...HIDDEN,
    ...options,
    ...(isElectron && { env: { ...(options.env ?? process.env), ELECTRON_RUN_AS_NODE: '1' } }),
  };
}

/** Starts a program by the name of its file. As: the overloads tell which streams there are. */
export const startProgram = ((file: string, args: readonly string[], options: SpawnOptions) =>
  spawn(file, args, optionsFor(file, options))) as typeof spawn;

/** Runs a program to its end. Rejects if it cannot be run or fails; the error has what it printed (`stderr`). */
export function runProgram(file: string, args: readonly string[] = [], options: ExecFileOptions = {}) {
  return promisify(execFile)(file, args, { ...optionsFor(file, options), encoding: 'utf8' });
}

/** Runs npm and such, on Windows batch files, which Node runs only in a shell: no argument may come from outside. */
export const runBatch = (name: string, args: readonly string[], options: ExecFileOptions, system = SYSTEM) =>
  runProgram(system === 'win32' ? `${name}.cmd` : name, args, { ...options, shell: system === 'win32' });

/** Exit code of Windows for a program that Ctrl+C has ended. */
const ENDED_BY_CTRL_C = 0xc000013a;

export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (signal) return 128 + constants.signals[signal];
  return code === ENDED_BY_CTRL_C ? 128 + constants.signals.SIGINT : (code ?? 0);
}
