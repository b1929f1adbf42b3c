import express, { type Request, type Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { lazyRoutes } from '../http/lazy-routes.ts';
import { lazy } from '../machine/lazy.ts';
import { packageFile } from '../package-file.ts';
import type { ServiceAddresses } from './addresses.ts';

/**
 * Where everything is, for whoever opens the base address; the API's document and its page are loaded when asked for.
 *
 * @param describe addresses as a client reaches them, and the first segment of type names
 */
export function documentation(describe: (req: Request) => ServiceAddresses & { typePrefix: string }): Router {
  const router = express.Router();
  const docs = lazy(async () => {
    const { docsRoutes } = await import('../openapi/docs-routes.ts');
    const { openApiDocument } = await import('../openapi/document.ts');
    return docsRoutes({
      document: (req) => openApiDocument({ version: manifest.version, ...describe(req) }),
      gatewayUrl: (req) => describe(req).gatewayUrl,
      assetsDir: packageFile('dist/docs'),
    });
  });
  router.get('/', (req, res) => {
    if (req.accepts(['json', 'html']) === 'html') return res.redirect('docs');
    const { baseUrl, metaUrl, securityUrl, gatewayUrl } = describe(req);
    res.json({ version: manifest.version, metaUrl, securityUrl, gatewayUrl, docs: `${baseUrl}/docs` });
  });
  router.get(/^\/(openapi\.json$|docs(\/|$))/, lazyRoutes(docs));
  return router;
}
