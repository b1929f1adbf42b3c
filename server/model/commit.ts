import type { Operation } from 'fast-json-patch';
import type { Caller } from './caller.ts';
import type { StoredResource, Uuid } from './record.ts';

/** The response header that has the numbers of the commits that a request made, separated by commas. */
export const COMMIT_HEADER = 'X-Terrarium-Commit';

/** Sources of commits; `file`: the file linked to a lambda was saved. */
export const CHANGE_SOURCES = ['api', 'ui', 'cli', 'mcp', 'seed', 'engine', 'startup', 'file'] as const;

export interface Cause {
  actor: { id: Uuid; name: string } | null;
  via: (typeof CHANGE_SOURCES)[number];
  requestId?: string;
  action?: string;
  /** For a commit that undoes others: what was restored, e.g. `revert of commit 12`. */
  note?: string;
}

/** A resource before or after a commit, with data that the operations do not contain. */
export interface CommitResource {
  id: Uuid;
  type: string;
  name: string;
  /** Names from the root organization down; `/` is the root organization. */
  path: string;
}

/** One line of the journal: what changed, when, who and why. Contains RFC 6902 operations on the world and their inverse. */
export interface Commit {
  /** 1, 2, 3 ... without gaps. */
  seq: number;
  atMs: number;
  cause: Cause;
  ops: Operation[];
  inverse: Operation[];
  /** All changed resources: after the change, or before it if they were deleted. */
  resources: CommitResource[];
}

export interface Change {
  before?: StoredResource;
  after?: StoredResource;
}

/** Called after a commit is durable, in order. */
export type CommitListener = (commit: Commit, changes: readonly Change[]) => void;

interface CauseProof extends Partial<Record<'tokenId' | 'apiKey', string | undefined>> {
  /** Trace of the request: calls of a lambda have the trace of the request that invoked it. */
  traceId?: string | undefined;
}

/** Neither saved with the commit nor returned. */
const proofs = new WeakMap<Cause, CauseProof>();

/** The origin of a change of the world. */
export interface ChangeRequest {
  caller: Caller;
  via: Cause['via'];
  requestId?: string;
  traceId?: string | undefined;
}

export function causeOf({ caller, via, requestId, traceId }: ChangeRequest, action: string, note?: string): Cause {
  const cause: Cause = {
    actor: { id: caller.userId, name: caller.name },
    via,
    ...(requestId !== undefined && { requestId }),
    action,
    ...(note !== undefined && { note }),
  };
  const { tokenId, apiKey } = caller;
  proofs.set(cause, { tokenId, apiKey, traceId });
  return cause;
}

/** The hash of the token, as in `Credentials.tokens`, the API key without its secret, and the trace of the request. */
export function proofOf(cause: Cause): CauseProof {
  return proofs.get(cause) ?? {};
}
