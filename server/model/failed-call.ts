interface CallFacts {
  method: string;
  url: string;
  status?: number | undefined;
  error?: string | undefined;
  /** A connection without HTTP has no status. */
  connection?: object | undefined;
}

/** A 404 for a request that checks existence is a valid response. */
const ASKING = new Set(['GET', 'HEAD']);
const NOT_THERE = new Set([404, 410]);

export function isFailedCall({ method, status, error, connection }: CallFacts): boolean {
  if (error === undefined && connection) return false;
  if (error !== undefined || status === undefined) return true;
  if (NOT_THERE.has(status) && ASKING.has(method.toUpperCase())) return false;
  return status >= 400;
}

/** The failed calls that no later call with the same method and address made up for, in order. */
export function failedCalls<Call extends CallFacts>(calls: readonly Call[]): Call[] {
  return calls.filter(
    (call, at) =>
      isFailedCall(call) && !calls.slice(at + 1).some((later) => isSame(call, later) && !isFailedCall(later)),
  );
}

function isSame(call: CallFacts, otherCall: CallFacts): boolean {
  return call.method === otherCall.method && call.url === otherCall.url;
}

const PLATFORM_FRAME = /^\s+at .*(?:[/\\]lambda-child\.cjs:|[( ]node:)/;

/** True if a log line is a stack frame in the runtime of lambdas or in Node.js, which says nothing about the code of the lambda. */
export function isPlatformFrame(line: string): boolean {
  return PLATFORM_FRAME.test(line);
}
