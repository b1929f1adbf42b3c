import { isDeepStrictEqual } from 'node:util';
import { OWN_GROUP } from '../../../system/process-tree.ts';
import { type ChildProcess, startProgram } from '../../../system/programs.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';

/** New objects can need three times as much memory beyond a lambda's limit. V8 in Node.js 20 has this default; later versions have twice as much. */
const SEMI_SPACE_MB = 16;

/** The fields of a lambda that decide how its process is started. */
export type StartFields = Pick<LambdaDefinition, 'memoryMb' | 'isDebugged'>;

/** A spare has the memory of lambdas that ask for none (D-056), and loads ahead what a lambda may need. */
export const SPARE: StartFields = { memoryMb: 512, isDebugged: false };

export interface GroupOptions {
  execPath: string;
  childFile: string;
  env: Readonly<Record<string, string>>;
  fields: StartFields;
}

/** Checks whether a spare has the flags that a lambda needs; `limitsMemory`: a heap that is too large is limited from outside. */
export function fitsSpare(fields: StartFields, limitsMemory: boolean): boolean {
  const memoryMb = limitsMemory ? Math.max(fields.memoryMb, SPARE.memoryMb) : fields.memoryMb;
  return isDeepStrictEqual(nodeFlags({ ...fields, memoryMb }), nodeFlags(SPARE));
}

function nodeFlags({ memoryMb, isDebugged }: StartFields): string[] {
  return [
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
}

/** Starts a process as the leader of a group of its own, with two more streams: CONTROL_FD and CALLS_FD. */
export function startGroup({ execPath, childFile, env, fields }: GroupOptions): ChildProcess {
  return startProgram(execPath, [...nodeFlags(fields), childFile, ...(fields === SPARE ? ['spare'] : [])], {
    // `overlapped` is a pipe; on Windows the only kind that Node can read without blocking.
    stdio: ['ignore', 'pipe', 'pipe', 'overlapped', 'overlapped'],
    env,
    detached: OWN_GROUP,
  });
}
