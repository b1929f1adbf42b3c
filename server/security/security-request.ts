import type { Request } from 'express';
import { requireCaller, unauthenticated } from '../http/challenge.ts';
import type { Authenticator, Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { findOrganization } from '../model/hierarchy.ts';
import { parseUuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { demandRight } from '../model/rights.ts';
import type { WorldView } from '../model/world-view.ts';
import { AccountForms } from './account-forms.ts';
import type { AccountWriter } from './account-writer.ts';
import { findGroup, findUser } from './accounts.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import type { Credentials } from './credentials.ts';

/** What the security service stands on. */
export interface SecurityOptions {
  view: WorldView;
  credentials: Credentials;
  authenticator: Authenticator;
  judge: Judge;
  accounts: AccountWriter;
  /** Prefix of type names (D-080); in lower case it begins the platform's own token members (D-170, D-176). */
  prefix: string;
  /** `{security_url}` as this client sees it (D-011), without trailing slash. */
  addresses(request: Request): { securityUrl: string };
  /** Version of the emulator, for `/info`. */
  version: string;
  nowMs(): number;
  /** Is this the password of the user? Takes as long for nobody's. */
  isPassword(password: string, user: StoredResource | undefined): Promise<boolean>;
  /** Counts failed attempts to sign in, wherever they are made. */
  attempts: AttemptLimiter;
  /** Told of faults of the emulator itself, which are answered with 500. */
  onFault(fault: unknown): void;
}

const FQON = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** One request to the security service: who makes it, and what its path names. */
export class SecurityRequest {
  readonly forms: AccountForms;
  readonly securityUrl: string;
  readonly #options: SecurityOptions;
  readonly #http: Request;

  constructor(options: SecurityOptions, http: Request) {
    this.#options = options;
    this.#http = http;
    this.securityUrl = options.addresses(http).securityUrl;
    this.forms = new AccountForms(options.view, this.securityUrl);
  }

  /** A segment of the path by its name in the route, decoded; empty when the route has none. */
  segment(name: string): string {
    const value = this.#http.params[name];
    return typeof value === 'string' ? value : '';
  }

  /** Who makes the request, by Bearer or Basic; throws 401 otherwise (D-172, D-181). */
  caller(): Caller {
    const fqon = FQON.test(this.segment('fqon')) ? this.segment('fqon') : 'root';
    const who = this.#options.authenticator.identify(this.#http.headers.authorization);
    return requireCaller(who, `${this.securityUrl}/${fqon}/oauth/issue`);
  }

  /** The caller's own user; throws 401 like `caller`. */
  self(): StoredResource {
    const { userId } = this.caller();
    const user = findUser(this.#options.view, userId);
    if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
    return user;
  }

  /** Who makes the request, by Basic with a key pair and nothing else; throws 401 otherwise (D-173). */
  basicCaller(): Caller {
    const identification = this.#options.authenticator.identify(this.#http.headers.authorization);
    if (identification.kind === 'caller' && identification.caller.scheme === 'basic') return identification.caller;
    throw unauthenticated(`Basic realm="${this.securityUrl}"`);
  }

  /** Throws 403 unless the caller may do that to the resource (D-117, D-118). */
  demand(caller: Caller, action: string, resource: StoredResource): void {
    demandRight(this.#options.judge, { caller, action, resource });
  }

  /** Those of the resources that the caller may see (D-118). */
  visible(caller: Caller, action: string, resources: readonly StoredResource[]): StoredResource[] {
    return resources.filter((resource) => this.#options.judge.may(caller, action, resource.id));
  }

  /** The organization that the path begins with; throws 404 when there is none (D-003). */
  organization(): StoredResource {
    const fqon = this.segment('fqon');
    const found = FQON.test(fqon) ? findOrganization(this.#options.view, fqon) : undefined;
    if (!found) throw new PlatformError(404, `organization '${fqon.slice(0, 255)}' not found`);
    return found;
  }

  /** The user whose id the path holds; throws 400 for what is not a UUID, 404 when there is no such account. */
  user(): StoredResource {
    const id = parseUuid(this.segment('id'));
    const found = findUser(this.#options.view, id);
    if (!found) throw new PlatformError(404, `account ${id} not found`);
    return found;
  }

  /** The group whose id the path holds; throws like `user`. */
  group(): StoredResource {
    const id = parseUuid(this.segment('id'));
    const found = findGroup(this.#options.view, id);
    if (!found) throw new PlatformError(404, `group ${id} not found`);
    return found;
  }
}
