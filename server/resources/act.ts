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

/** The emulator itself as root, for what it does on its own account. */
export function rootAct(root: StoredResource, via: Act['via']): Act {
  const caller: Caller = { userId: root.owner, name: 'root', isRoot: true, groupIds: [], scheme: 'internal' };
  return { caller, via };
}
