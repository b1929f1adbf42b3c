import { OWN_GROUP } from '../../../system/process-tree.ts';
import { type ChildProcess, startProgram } from '../../../system/programs.ts';

/**
 * New objects can need three times as much memory in addition to a lambda's limit. V8 in Node.js 20 has this default; later versions have
 * twice as much.
 */
const SEMI_SPACE_MB = 16;

export interface GroupOptions {
  execPath: string;
  childFile: string;
  memoryMb: number;
  env: Readonly<Record<string, string>>;
  /** Is it going to wait for its lambda? Then it loads ahead what a lambda may need. */
  isSpare: boolean;
  /** Can a debugger attach to it on a port of the loopback address? */
  isDebugged: boolean;
}

/** Starts a process as the leader of a group of its own, with two more streams: CONTROL_FD and CALLS_FD. */
export function startGroup({ execPath, childFile, memoryMb, env, isSpare, isDebugged }: GroupOptions): ChildProcess {
  const flags = [
    `--max-old-space-size=${memoryMb}`,
    `--max-semi-space-size=${SEMI_SPACE_MB}`,
    // Of the emulator's making, not of the lambda's: its source may be either kind of module.
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
    // Other users of the machine can reach the port. The id, without which no debugger can attach, is not published there, also if a
    // variable of the lambda (`NODE_OPTIONS`) asks for a port.
    '--inspect-publish-uid=stderr',
    ...(isDebugged ? ['--inspect=127.0.0.1:0'] : []),
  ];
  return startProgram(execPath, [...flags, childFile, ...(isSpare ? ['spare'] : [])], {
    // `overlapped` is a pipe; on Windows the only kind that Node can read without blocking.
    stdio: ['ignore', 'pipe', 'pipe', 'overlapped', 'overlapped'],
    env,
    detached: OWN_GROUP,
  });
}
