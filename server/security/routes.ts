import { type ErrorRequestHandler, Router } from 'express';
import { statusRows } from '../contract/security.ts';
import { answerErrors } from '../http/answer-error.ts';
import { serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { accountRoutes } from './account-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { organizationRoutes } from './organization-routes.ts';
import { type SecurityOptions, securityParts } from './security-parts.ts';
import { tokenRoutes } from './token-routes.ts';

/** The security service, to be mounted at `/security` (section 13 of the decisions); answers its own errors (D-180). */
export function securityRoutes(options: SecurityOptions): Router {
  const parts = securityParts(options);
  const router = Router({ caseSensitive: true });
  router.use(
    serve(statusRows, parts.gate, {
      readSecurityHealth: () => ({ status: 'healthy' as const }),
      readSecurityInfo: ({ req }) => ({
        status: 'healthy' as const,
        url: options.addresses(req).securityUrl,
        time: new Date(options.nowMs()).toISOString(),
        version: options.version,
      }),
      readInitialization: () => ({ initialized: true as const }),
      initialize() {
        throw new PlatformError(409, 'the security service is initialized already');
      },
    }),
    tokenRoutes(parts),
    keyRoutes(parts),
    accountRoutes(parts),
    options.accountChanges(parts),
  );
  // Last, since it takes any first segment for an organization's name.
  router.use(organizationRoutes(parts));

  router.use((http) => {
    throw new PlatformError(404, `no route: ${http.method} ${http.baseUrl}${http.path}`);
  });
  router.use(answerSecurityErrors(options.onFault));
  return router;
}

function answerSecurityErrors(onFault: (fault: unknown) => void): ErrorRequestHandler {
  return (thrown, http, res, next) => {
    const bodyOf = (error: PlatformError) => ({
      code: error.status,
      message: error.message,
      resource: `${http.baseUrl}${http.path}`,
      developerMessage: developerMessage(error),
    });
    answerErrors(onFault, bodyOf)(thrown, http, res, next);
  };
}

/** What a program's author wants to know beyond the message: each offence with its place. */
function developerMessage(error: PlatformError): string {
  return error.details?.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ') ?? error.message;
}
