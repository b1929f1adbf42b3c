/** Exit code for what the user can put right: a flag, a port, a folder, a file. */
export const USER_FAILURE = 2;
/** Exit code for a fault of the emulator. */
const FAULT = 1;

/** Errors whose message is meant for the person at the command line; by name, since the rooms that throw them are not ours to know. */
const USER_ERRORS: readonly string[] = [
  'UserError',
  'PipelineError',
  'StoreError',
  'SeedError',
  'EngineLeftovers',
  'EngineUnreachable',
];

/** What is said of a failure on standard error, and the exit code that goes with it. */
export interface FailureDescription {
  text: string;
  exitCode: typeof USER_FAILURE | typeof FAULT;
}

/** One sentence for what the user can put right; message and stack for a fault of ours, so that it can be reported. */
export function describeFailure(failure: unknown): FailureDescription {
  const sentence = userSentence(failure);
  return sentence === undefined
    ? { text: describeFault(failure), exitCode: FAULT }
    : { text: sentence, exitCode: USER_FAILURE };
}

/** A fault of the emulator with all that is known of it, for a report. */
export function describeFault(fault: unknown): string {
  return `a fault of the emulator itself, please report it: ${fault instanceof Error ? fault.stack : String(fault)}`;
}

function userSentence(failure: unknown): string | undefined {
  if (!(failure instanceof Error)) return undefined;
  if (USER_ERRORS.includes(failure.name)) return failure.message;
  if (!('code' in failure)) return undefined;
  // Members that Node sets on errors of the operating system.
  const { code, syscall, path, address, port, message } = failure as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (syscall === 'listen') {
    const place = `port ${port} on ${address}`;
    if (code === 'EADDRINUSE') {
      return `${place} is in use: stop the program that holds it, or choose another one with --base-port, --gateway-port or --crm-port (0 = any free one)`;
    }
    if (code === 'EACCES') return `${place} may not be used by this account: choose one above 1023`;
    if (code === 'EADDRNOTAVAIL') return `${address} is not an address of this machine: choose another --host`;
  }
  if (syscall === 'getaddrinfo') return `the host name cannot be resolved: choose another --host (${message})`;
  return path === undefined ? undefined : `the file system refused: ${message}`;
}
