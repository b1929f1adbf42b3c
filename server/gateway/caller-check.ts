import { authenticate } from '../api/server/authenticate.ts';
import type { Authenticator, Authorizer, Caller, Identification } from '../model/caller.ts';
import type { StoredResource, Uuid } from '../model/record.ts';
import { requireRightTo } from '../model/rules/rights.ts';
import type { EndpointSecurity } from './endpoint.ts';
import type { Exchange } from './exchange.ts';

export interface GatewayAddresses {
  gatewayUrl: string;
  securityUrl: string;
}

export class CallerCheck {
  readonly #parts: { authenticator: Authenticator; authorizer: Authorizer; addresses(): GatewayAddresses };

  constructor(parts: { authenticator: Authenticator; authorizer: Authorizer; addresses(): GatewayAddresses }) {
    this.#parts = parts;
  }

  identify(exchange: Exchange): Identification {
    const { authorization } = exchange.request.headers;
    if (authorization === undefined) return { kind: 'none' };
    const who = this.#parts.authenticator.identify(authorization);
    if (who.kind !== 'caller') return who;
    exchange.userId = who.caller.userId;
    exchange.apiKey = who.caller.apiKey;
    return who;
  }

  /** The caller, by Bearer or Basic authentication; throws 401 with both challenges (D-163). */
  require(who: Identification): Caller {
    const { securityUrl, gatewayUrl } = this.#parts.addresses();
    return authenticate(who, { securityUrl, basicRealm: gatewayUrl });
  }

  /** The caller, by Bearer authentication only; throws 401 (D-166). */
  requireBearer(who: Identification): Caller {
    return authenticate(who, { securityUrl: this.#parts.addresses().securityUrl, takes: 'bearer' });
  }

  /** Throws 401 or 403 unless the security plugin of the endpoint allows the caller (D-163, D-120). */
  requireListed(who: Identification, security: EndpointSecurity, endpointId: Uuid): void {
    const caller = this.require(who);
    const isListed = security.users.has(caller.userId) || caller.groupIds.some((id) => security.groups.has(id));
    if (!isListed) this.requireRight(caller, 'apiendpoint.invoke', endpointId);
  }

  /** Throws 401 or 403 if the lambda is not public and the caller lacks the permission to invoke it (D-141). */
  requireInvoke(who: Identification, lambda: StoredResource): void {
    if (lambda.properties.public === false) this.requireRight(this.require(who), 'lambda.invoke', lambda.id);
  }

  /** Throws 403 unless the caller is root or has the permission (D-117, D-118). */
  requireRight(caller: Caller, action: string, resourceId: Uuid): void {
    if (!caller.isRoot) requireRightTo(this.#parts.authorizer, { caller, action, resource: { id: resourceId } });
  }
}
