import { authenticate } from '../http/authenticate.ts';
import type { Authenticator, Caller, Identification, Judge } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { demandRight } from '../model/rights.ts';
import type { EndpointSecurity } from './endpoint.ts';
import type { Exchange } from './exchange.ts';

/** Where the gateway and the security service are reached now. */
export interface GatewayAddresses {
  /** Without trailing slash. */
  gatewayUrl: string;
  securityUrl: string;
}

/** Decides who may call what through the gateway. */
export class CallerCheck {
  readonly #authenticator: Authenticator;
  readonly #judge: Judge;
  readonly #addresses: () => GatewayAddresses;

  constructor(parts: { authenticator: Authenticator; judge: Judge; addresses: () => GatewayAddresses }) {
    this.#authenticator = parts.authenticator;
    this.#judge = parts.judge;
    this.#addresses = parts.addresses;
  }

  /** Reads the Authorization header of a request. */
  identify(exchange: Exchange): Identification {
    const { authorization } = exchange.request.headers;
    if (authorization === undefined) return { kind: 'none' };
    const who = this.#authenticator.identify(authorization);
    if (who.kind === 'caller') exchange.userId = who.caller.userId;
    return who;
  }

  /** The caller, by Bearer or Basic; throws 401 with both challenges (D-163). */
  require(who: Identification): Caller {
    const { securityUrl, gatewayUrl } = this.#addresses();
    return authenticate(who, { securityUrl, basicRealm: gatewayUrl });
  }

  /** The caller, by Bearer only; throws 401 (D-166). */
  requireBearer(who: Identification): Caller {
    return authenticate(who, { securityUrl: this.#addresses().securityUrl, takes: 'bearer' });
  }

  /** Throws 401 or 403 unless the caller is one that the endpoint's security plugin lets through (D-163, D-120). */
  requireListed(who: Identification, security: EndpointSecurity, endpointId: Uuid): void {
    const caller = this.require(who);
    const isListed = security.users.has(caller.userId) || caller.groupIds.some((id) => security.groups.has(id));
    if (!isListed) this.requireRight(caller, 'apiendpoint.invoke', endpointId);
  }

  /** Throws 401 or 403 when the lambda is not public and the caller may not invoke it (D-141). */
  requireInvoke(who: Identification, lambda: StoredResource): void {
    if (lambda.properties.public === false) this.requireRight(this.require(who), 'lambda.invoke', lambda.id);
  }

  /** Throws 403 unless the caller is root or has the right (D-117, D-118). */
  requireRight(caller: Caller, action: string, resourceId: Uuid): void {
    if (!caller.isRoot) demandRight(this.#judge, { caller, action, resource: { id: resourceId } });
  }
}
