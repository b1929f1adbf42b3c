import type { OutboundCall } from './invocation.ts';

/** What is looked at of a call. */
type CallFacts = Pick<OutboundCall, 'method' | 'url' | 'status' | 'error'>;

/** Asking whether something is there, and being told that it is not, is an answer. */
const ASKING = new Set(['GET', 'HEAD']);
const NOT_THERE = new Set([404, 410]);

/** Did a call that a lambda made come to nothing: no answer, or one that refuses? */
export function isFailedCall({ method, status, error }: CallFacts): boolean {
  if (error !== undefined || status === undefined) return true;
  if (NOT_THERE.has(status) && ASKING.has(method.toUpperCase())) return false;
  return status >= 400;
}

/** The calls that came to nothing, and were not made good by a later one of the same method to the same address; in their order. */
export function failedCalls<Call extends CallFacts>(calls: readonly Call[]): Call[] {
  return calls.filter(
    (call, at) =>
      isFailedCall(call) && !calls.slice(at + 1).some((later) => isSame(call, later) && !isFailedCall(later)),
  );
}

function isSame(one: CallFacts, other: CallFacts): boolean {
  return one.method === other.method && one.url === other.url;
}
