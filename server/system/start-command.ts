// On Windows most commands are batch files (npm.cmd), which Node's own `spawn` does not find.
import spawn from 'cross-spawn';
import type { ChildProcess, SpawnOptions } from './programs.ts';

/** Starts what a user calls a command, as a shell finds it. */
export const startCommand = (file: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
  spawn(file, args, { windowsHide: true, ...options });
