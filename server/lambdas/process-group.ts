import { type ChildProcess, spawn } from 'node:child_process';

/** How a lambda's process is started. */
export interface GroupOptions {
  execPath: string;
  /** Path of the bundled bootstrap. */
  childFile: string;
  memoryMb: number;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** Is it going to wait for its lambda? Then it loads ahead what a lambda may need. */
  isSpare: boolean;
  /** Set: a debugger can attach to it on that port of the loopback address; 0 for any. */
  inspectPort?: number;
}

/** Starts a process as the leader of a group of its own, with two more streams: CONTROL_FD and CALLS_FD. */
export function startGroup({ execPath, childFile, memoryMb, env, isSpare, inspectPort }: GroupOptions): ChildProcess {
  const flags = [
    `--max-old-space-size=${memoryMb}`,
    // Of the emulator's making, not of the lambda's: its source may be either kind of module.
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
    // Its address is told over the control channel, not on the lambda's standard error.
    ...(inspectPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectPort}`, '--inspect-publish-uid=http']),
  ];
  return spawn(execPath, [...flags, childFile, ...(isSpare ? ['spare'] : [])], {
    // `overlapped` is a pipe; on Windows the only kind that Node can read without blocking.
    stdio: ['ignore', 'pipe', 'pipe', 'overlapped', 'overlapped'],
    env: process.versions.electron ? { ...env, ELECTRON_RUN_AS_NODE: '1' } : env,
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

/** Ends the process and all that it started and that is still in its group, at once. */
export function killGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  try {
    if (process.platform === 'win32') leader.kill('SIGKILL');
    else process.kill(-leader.pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}
