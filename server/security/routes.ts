import { type ErrorRequestHandler, Router } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { PlatformError } from '../model/errors.ts';
import { accountRoutes } from './account-routes.ts';
import { inspectionRoutes } from './inspection-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { organizationRoutes } from './organization-routes.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';
import { tokenRoutes } from './token-routes.ts';

/** The security service, to be mounted at `/security` (section 13 of the decisions); answers its own errors (D-180). */
export function securityRoutes(options: SecurityOptions): Router {
  const router = Router({ caseSensitive: true });

  router.get('/health', (_http, res) => {
    res.json({ status: 'healthy' });
  });
  router.get('/info', (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    const time = new Date(options.nowMs()).toISOString();
    res.json({ status: 'healthy', url: request.securityUrl, time, version: options.version });
  });
  router.get('/init', (http, res) => {
    new SecurityRequest(options, http).caller();
    res.json({ initialized: true });
  });
  router.post('/init', (http) => {
    new SecurityRequest(options, http).caller();
    throw new PlatformError(409, 'the security service is initialized already');
  });

  router.use(tokenRoutes(options), inspectionRoutes(options), keyRoutes(options), accountRoutes(options));
  // Last, since it takes any first segment for an organization's name.
  router.use(organizationRoutes(options));

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
