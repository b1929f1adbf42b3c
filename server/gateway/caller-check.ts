import { authenticate } from '../api/server/authenticate.ts';
import type { Authenticator, Authorizer, Caller, Identification } from '../model/caller.ts';
import type { StoredResource, Uuid } from '../model/record.ts';
import { requireRightTo } from '../model/rules/actions.ts';
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
    const identification = this.#parts.authenticator.identify(authorization);
    if (identification.kind !== 'caller') return identification;
    exchange.userId = identification.caller.userId;
    exchange.apiKey = identification.caller.apiKey;
    return identification;
  }

  /** The caller, by Bearer or Basic authentication; throws 401 with both challenges (D-163). */
  require(identification: Identification): Caller {
    const { securityUrl, gatewayUrl } = this.#parts.addresses();
    return authenticate(identification, { securityUrl, basicRealm: gatewayUrl });
  }

  /** The caller, by Bearer authentication only; throws 401 (D-166). */
  requireBearer(identification: Identification): Caller {
    return authenticate(identification, { securityUrl: this.#parts.addresses().securityUrl, acceptedScheme: 'bearer' });
  }

  /** Throws 401 or 403 unless the security plugin of the endpoint allows the caller (D-163, D-120). */
  requireListed(identification: Identification, security: EndpointSecurity, endpointId: Uuid): void {
    const caller = this.require(identification);
    const isListed = security.users.has(caller.userId) || caller.groupIds.some((id) => security.groups.has(id));
    if (!isListed) this.requireRight(caller, 'apiendpoint.invoke', endpointId);
  }

  /** Throws 401 or 403 if the lambda is not public and the caller lacks the permission to invoke it (D-141). */
  requireInvoke(identification: Identification, lambda: StoredResource): void {
    if (lambda.properties.public === false) this.requireRight(this.require(identification), 'lambda.invoke', lambda.id);
  }

  /** Throws 403 unless the caller is root or has the permission (D-117, D-118). */
  requireRight(caller: Caller, action: string, resourceId: Uuid): void {
    if (!caller.isRoot) requireRightTo(this.#parts.authorizer, { caller, action, resource: { id: resourceId } });
  }
}
