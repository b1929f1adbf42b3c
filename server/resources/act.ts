import { byToken } from '../model/acting-token.ts';
import type { Caller } from '../model/caller.ts';
import type { Cause } from '../model/commit.ts';
import type { StoredResource } from '../model/record.ts';

/** Who acts, and through what: kept with every commit and told to policy events. */
export interface Act {
  caller: Caller;
  via: Cause['via'];
  requestId?: string;
  /** Query parameters of the request (D-126). */
  args?: Record<string, string>;
}

/** The cause that a commit keeps of an act. */
export function causeOf(act: Act, action: string): Cause {
  const cause: Cause = {
    actor: { id: act.caller.userId, name: act.caller.name },
    via: act.via,
    ...(act.requestId !== undefined && { requestId: act.requestId }),
    action,
  };
  return byToken(cause, act.caller);
}

/** The emulator itself as root, for what it does on its own account. */
export function rootAct(root: StoredResource, via: Act['via']): Act {
  const caller: Caller = { userId: root.owner, name: 'root', isRoot: true, groupIds: [], scheme: 'internal' };
  return { caller, via };
}
