import type { Caller } from './caller.ts';
import type { Cause } from './commit.ts';

export interface CauseProof extends Pick<Caller, 'tokenId' | 'apiKey'> {
  /** Trace of the request: calls of a lambda have the trace of the request that invoked it. */
  traceId?: string | undefined;
}

/** Neither saved with the commit nor returned. */
const proofs = new WeakMap<Cause, CauseProof>();

export function causeOf(
  {
    caller,
    via,
    requestId,
    traceId,
  }: { caller: Caller; via: Cause['via']; requestId?: string; traceId?: string | undefined },
  action: string,
  note?: string,
): Cause {
  const cause: Cause = {
    actor: { id: caller.userId, name: caller.name },
    via,
    ...(requestId !== undefined && { requestId }),
    action,
    ...(note !== undefined && { note }),
  };
  const { tokenId, apiKey } = caller;
  proofs.set(cause, { ...(tokenId !== undefined && { tokenId }), ...(apiKey !== undefined && { apiKey }), traceId });
  return cause;
}

/** The hash of the token, as in `Credentials.tokens`, the API key without its secret, and the trace of the request. */
export function proofOf(cause: Cause): CauseProof {
  return proofs.get(cause) ?? {};
}
