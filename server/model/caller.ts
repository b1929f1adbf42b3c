import type { Uuid } from './ids.ts';

/** Who makes a request, once authenticated (D-172). */
export interface Caller {
  userId: Uuid;
  name: string;
  /** The root user may do everything (D-117). */
  isRoot: boolean;
  /** Ids of the groups the user is in, anywhere. */
  groupIds: readonly Uuid[];
  scheme: 'bearer' | 'basic' | 'internal';
  /** Names the token that was used, and proves nothing. */
  tokenId?: string;
}

/** What came of an Authorization header. `invalid`: there was one, but it proves nothing, and why; wrong unless it says so. */
export type Identification =
  | { kind: 'none' }
  | { kind: 'invalid'; reason?: 'wrong' | 'ended' | 'expired' }
  | { kind: 'caller'; caller: Caller };

/** Answers "who is this": the security service's face to the other rooms. Costs no disk and no waiting. */
export interface Authenticator {
  /** Reads an Authorization header, `Bearer <token>` or `Basic base64(key:secret)`, scheme in any case (D-172). */
  identify(authorization: string | undefined): Identification;
}

/** Answers "may they": the rights of D-117 on one resource. */
export interface Judge {
  /** May the caller do `noun.verb` on this resource? Without an entitlement there, the nearest ancestor's decides. */
  may(caller: Caller, action: string, resourceId: Uuid): boolean;
}
