import { listeners } from '../platform/declarations.ts';
import { temporaryVariable } from '../system/temporary.ts';
import { SYSTEM, type System } from '../system/this-system.ts';

/** Exit code of an internal error, and if the operation failed or the condition was not met: no lead came, a check failed. */
export const NO = 1;

export class ExitWith extends Error {
  override readonly name = 'ExitWith';
  readonly exitCode: number;
  /** The error code and HTTP status of a request that the platform rejected (D-180). */
  readonly reason: string | undefined;
  readonly status: number | undefined;

  /** @param sentence printed on standard error unless empty */
  constructor(
    exitCode: number,
    sentence = '',
    rejection: { reason?: string | undefined; status?: number | undefined } = {},
  ) {
    super(sentence);
    this.exitCode = exitCode;
    this.reason = rejection.reason;
    this.status = rejection.status;
  }
}

/** Exit code for what the user can correct: a flag, a port, a folder, a file. */
export const USER_FAILURE = 2;
/** A cause can be its own cause. */
const MAX_CAUSES = 5;

/** Errors whose message is meant for the user; by name, since the command line does not import every module that throws them. */
const USER_ERRORS: readonly string[] = [
  'UserError',
  'PipelineError',
  'StoreError',
  'SeedError',
  'EngineLeftovers',
  'EngineUnreachable',
];

/** A sentence for errors that the user can correct; message and stack for internal errors. `reason` and `status` are as in D-180. */
export function describeFailure(
  failure: unknown,
  system = SYSTEM,
): { text: string; exitCode: number; reason?: string; status?: number } {
  if (failure instanceof ExitWith) {
    const { message: text, exitCode, reason, status } = failure;
    return { text, exitCode, ...(reason && { reason }), ...(status && { status }) };
  }
  const sentence = userSentence(failure, system);
  return sentence === undefined
    ? { text: describeFault(failure), exitCode: NO }
    : { text: sentence, exitCode: USER_FAILURE };
}

/** An internal error with its stack and those of its causes, for a bug report. */
export function describeFault(fault: unknown): string {
  return `internal error. This is a bug in Terrarium; please report it: ${stacksOf(fault)}`;
}

function stacksOf(fault: unknown, depth = 1): string {
  if (!(fault instanceof Error)) return String(fault);
  const hasCause = fault.cause !== undefined && depth < MAX_CAUSES;
  return `${fault.stack}${hasCause ? `\ncaused by: ${stacksOf(fault.cause, depth + 1)}` : ''}`;
}

function userSentence(failure: unknown, system: System): string | undefined {
  if (!(failure instanceof Error)) return undefined;
  if (USER_ERRORS.includes(failure.name)) return failure.message;
  // A disk that became full while the platform started.
  if ('reason' in failure && (failure.reason === 'disk_full' || failure.reason === 'storage_failed'))
    return failure.message;
  if (!('code' in failure)) return undefined;
  // Members that Node sets on errors of the operating system.
  const { code, syscall, path, address, port, message } = failure as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (syscall === 'listen') {
    const listener = `port ${port} on ${address}`;
    if (code === 'EADDRINUSE') {
      const flags = new Intl.ListFormat('en', { type: 'disjunction' }).format(listeners.map(({ flag }) => flag));
      return `${listener} is in use: stop the program that uses it, or choose another port with ${flags} (0 = any free port)`;
    }
    if (code === 'EACCES') {
      return system === 'win32'
        ? `${listener} is reserved by Windows: choose another port. \`netsh interface ipv4 show excludedportrange protocol=tcp\` lists the reserved ones`
        : `${listener} requires more permissions than your account has: choose a port above 1023`;
    }
    if (code === 'EADDRNOTAVAIL') return `${address} is not an address of this machine: choose another --host`;
  }
  if (syscall === 'mkdtemp') {
    return `no temporary folder can be created (${message}): set the variable ${temporaryVariable(system)} to a folder that you can write to`;
  }
  if (syscall === 'getaddrinfo') return `the host name cannot be resolved: choose another --host (${message})`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk is full (${message}): free some space, and try again`;
  return path === undefined ? undefined : `the file system reported an error: ${message}`;
}
