import type { Condition } from '../../components/state.tsx';

interface Ended {
  /** Undefined while it waits or runs. */
  outcome?: { ok: boolean; failure?: string } | undefined;
  outboundFailures?: number | undefined;
}

/** Returns the status of an invocation in a word or two: `running`, `ok`, the kind of its failure, or that an outbound call failed. */
export function statusOf({ outcome, outboundFailures }: Ended): string {
  if (!outcome) return 'running';
  if (!outcome.ok) return outcome.failure ?? 'error';
  return outboundFailures ? callsFailed(outboundFailures) : 'ok';
}

interface EndedCall {
  status?: number | undefined;
  error?: string | undefined;
  blocked?: true | undefined;
  connection?: object | undefined;
}

/** Returns the result of an outbound call in a word or two. */
export function resultOf({ status, error, blocked, connection }: EndedCall): string | number {
  if (blocked) return 'blocked';
  if (status !== undefined) return status;
  if (!connection) return 'no response';
  return error === undefined ? 'connected' : 'failed';
}

/** The number of failed calls in words. */
export function callsFailed(count: number): string {
  return count === 1 ? 'call failed' : `${count.toLocaleString('en')} calls failed`;
}

export function conditionOf({ outcome, outboundFailures }: Ended): Condition {
  if (!outcome) return 'running';
  // What happened to its purpose counts: a lead that the CRM refused is lost although the visitor read SUCCESS.
  if (outcome.ok) return outboundFailures ? 'error' : 'ok';
  return outcome.failure === 'busy' || outcome.failure === 'interrupted' ? 'warning' : 'error';
}

/** Returns the probable cause of a failure and the next step. */
export function adviceFor(failure: string | undefined): string {
  switch (failure) {
    case 'timeout':
      return 'The lambda did not finish within its timeout. See in the waterfall what it waited for, or raise the timeout.';
    case 'crash':
      return 'The process ended or ran out of memory. The log can contain the reason.';
    case 'load':
      return 'The code could not be loaded, or the handler was not found. Check the code and the name of the handler.';
    case 'too-large':
      return 'The result exceeds the limit. Return less, or raise the limit in the settings.';
    case 'invalid-result':
      return 'The result cannot be sent. Return a string, bytes or a plain value.';
    case 'deleted':
      return 'The lambda no longer exists.';
    case 'pending':
      return 'A rule suppressed the creation of the lambda. Remove the rule, then create the lambda again.';
    case 'busy':
      return 'All processes of the lambda were busy and its queue was full.';
    case 'runtime':
      return 'The runtime is not supported; only Node.js is.';
    case 'interrupted':
      return 'The platform stopped before the invocation finished.';
    default:
      return 'The handler returned or threw an error. The log and the outbound calls can contain the reason.';
  }
}
