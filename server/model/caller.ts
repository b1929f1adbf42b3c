import type { Uuid } from './record.ts';

export interface Caller {
  userId: Uuid;
  name: string;
  /** The root user has all permissions (D-117). */
  isRoot: boolean;
  groupIds: readonly Uuid[];
  scheme: 'bearer' | 'basic' | 'internal';
  /** Identifies the token that was used, without revealing it. */
  tokenId?: string;
  apiKey?: string;
}

/** The result for an Authorization header. `invalid`: the credentials were refused for this reason (default: wrong). */
export type Identification =
  | { kind: 'none' }
  | { kind: 'invalid'; reason?: 'wrong' | 'ended' | 'expired' }
  | { kind: 'caller'; caller: Caller };

export interface Authenticator {
  /** Reads an Authorization header, `Bearer <token>` or `Basic base64(key:secret)`, scheme in any case (D-172). */
  identify(authorization: string | undefined): Identification;
}

export interface Authorizer {
  /**
   * True if the caller has the permission `noun.verb` on this resource. Without an entitlement there, the nearest
   * ancestor decides.
   */
  can(caller: Caller, action: string, resourceId: Uuid): boolean;
}
