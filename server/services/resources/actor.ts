import type { Request } from 'express';
import { changeSourceOf } from '../../api/server/authenticate.ts';
import type { Caller } from '../../model/caller.ts';
import { type ChangeRequest, COMMIT_HEADER } from '../../model/commit.ts';
import type { StoredResource } from '../../model/record.ts';
import { readTraceParent } from '../../model/trace.ts';

export interface Actor extends ChangeRequest {
  /** Query parameters of the request (D-126). */
  args?: Record<string, string>;
  onCommit?(seq: number): void;
}

/** The actor of a request. The response names the commits that were made before it was sent. */
export function actorOf(caller: Caller, req: Request): Actor {
  return {
    caller,
    via: changeSourceOf(req),
    traceId: readTraceParent(req.headers.traceparent)?.traceId,
    onCommit(seq) {
      if (req.res?.headersSent === false) req.res.append(COMMIT_HEADER, String(seq));
    },
  };
}

export function systemActor(root: StoredResource, via: Actor['via']): Actor {
  const caller: Caller = { userId: root.owner, name: 'root', isRoot: true, groupIds: [], scheme: 'internal' };
  return { caller, via };
}
