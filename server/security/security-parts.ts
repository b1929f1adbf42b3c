import type { Request, Router } from 'express';
import { authenticate } from '../http/authenticate.ts';
import type { Gate } from '../http/serve.ts';
import type { Authenticator, Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { findOrganization } from '../model/hierarchy.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import { type AccountForms, accountForms } from './account-forms.ts';
import { findGroup, findUser } from './accounts.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import type { Credentials } from './credentials.ts';

/** What the security service stands on. */
export interface SecurityOptions {
  view: WorldView;
  credentials: Credentials;
  authenticator: Authenticator;
  judge: Judge;
  /** Serves the rows that change accounts and groups: through the resource service, as any other change (D-072). */
  accountChanges(parts: SecurityParts): Router;
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

/** What the routes of the security service share. */
export interface SecurityParts {
  options: SecurityOptions;
  gate: Gate;
  /** What a path names; each throws 404, and 400 for what is no id. */
  finders: Record<'fqon' | 'account_id' | 'group_id', (text: string) => StoredResource>;
  /** Records as this client sees them. */
  forms(request: Request): AccountForms;
  /** The caller's own user. */
  self(caller: Caller): StoredResource;
}

export function securityParts(options: SecurityOptions): SecurityParts {
  const { view, judge } = options;
  const named = (what: string, find: (view: WorldView, id: Uuid) => StoredResource | undefined) => (text: string) => {
    const id = parseUuid(text);
    const found = find(view, id);
    if (!found) throw new PlatformError(404, `${what} ${id} not found`);
    return found;
  };
  return {
    options,
    gate: {
      view,
      judge,
      callerOf(req, takes) {
        const { securityUrl } = options.addresses(req);
        const fqon = String(req.params.fqon);
        return authenticate(options.authenticator.identify(req.headers.authorization), {
          securityUrl,
          ...(FQON.test(fqon) && req.params.fqon !== undefined && { fqon }),
          ...(takes && { takes }),
          ...(takes === 'basic' && { basicRealm: securityUrl }),
        });
      },
    },
    finders: {
      fqon(text) {
        const found = FQON.test(text) ? findOrganization(view, text) : undefined;
        if (!found) throw new PlatformError(404, `organization '${text.slice(0, 255)}' not found`);
        return found;
      },
      account_id: named('account', findUser),
      group_id: named('group', findGroup),
    },
    forms: (req) => accountForms(view, options.addresses(req).securityUrl),
    self({ userId }) {
      const user = findUser(view, userId);
      if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
      return user;
    },
  };
}
