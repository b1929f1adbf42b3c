import { Router } from 'express';
import { accountRoutes, statusRoutes } from '../../api/routes/security.ts';
import { answerErrors } from '../../api/server/answer-error.ts';
import { PlatformError } from '../../model/errors.ts';
import { keyRouter } from './key-routes.ts';
import { organizationRouter } from './organization-routes.ts';
import { type SecurityOptions, type SecurityParts, securityParts } from './security-parts.ts';
import { tokenRouter } from './token-routes.ts';

const { readOwnAccount, readAccount, readAccountGroup } = accountRoutes;

/** The security service, to be mounted at `/security` (section 13 of the decisions); answers its own errors (D-180). */
export function securityRouter(options: SecurityOptions): Router {
  const parts = securityParts(options);
  const router = Router({ caseSensitive: true });
  router.use(
    parts.mount(statusRoutes, {
      readSecurityHealth: () => ({ status: 'healthy' as const }),
      readSecurityInfo: ({ req }) => ({
        status: 'healthy' as const,
        url: options.addresses(req).securityUrl,
        time: new Date(options.nowMs()).toISOString(),
        version: options.version,
      }),
      readInitialization: () => ({ initialized: true as const }),
      initialize() {
        throw new PlatformError('invalid_state', 'the security service is initialized already');
      },
    }),
    tokenRouter(parts),
    keyRouter(parts),
    accountRouter(parts),
    options.accountChanges(parts),
  );
  // Last, since it takes any first segment for an organization's name.
  router.use(organizationRouter(parts));

  router.use((http) => {
    throw new PlatformError('no_route', `no route: ${http.method} ${http.baseUrl}${http.path}`);
  });
  router.use(answerErrors(options.onFault));
  return router;
}

/** Accounts and groups as they are (D-178, D-179); changed they are where users and groups live (`SecurityOptions.accountChanges`). */
function accountRouter({ mount, forms, self }: SecurityParts): Router {
  return mount(
    { readOwnAccount, readAccount, readAccountGroup },
    {
      readOwnAccount: ({ caller, req }) => forms(req).account(self(caller)),
      readAccount: ({ resource, req }) => forms(req).account(resource),
      readAccountGroup: ({ resource, req }) => forms(req).group(resource),
    },
  );
}
