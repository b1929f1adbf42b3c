import express, { type Request, type Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { lazyRoutes as lazyRouter } from '../api/server/lazy-routes.ts';
import type { ServiceAddresses } from '../plugin/plugin.ts';
import { lazy } from '../system/lazy.ts';
import { packageFile } from '../system/package-file.ts';

/**
 * Links for a browser that opens the base address; the API document and its page are loaded on request.
 *
 * @param typePrefix the first segment of type names
 * @param addresses as a client reaches them
 */
export function documentation(typePrefix: string, addresses: (req: Request) => ServiceAddresses): Router {
  const router = express.Router();
  const docs = lazy(async () => {
    const { docsRouter } = await import('../api/openapi/docs-routes.ts');
    const { openApiDocument } = await import('../api/openapi/document.ts');
    return docsRouter({
      document: (at) => openApiDocument({ version: manifest.version, typePrefix, ...at }),
      addresses,
      assetsDir: packageFile('dist/docs'),
    });
  });
  router.get('/', (req, res) => {
    if (req.accepts(['json', 'html']) === 'html') return res.redirect('docs');
    const { baseUrl, metaUrl, securityUrl, gatewayUrl } = addresses(req);
    res.json({ version: manifest.version, metaUrl, securityUrl, gatewayUrl, docs: `${baseUrl}/docs` });
  });
  router.get(/^\/(openapi\.json$|docs(\/|$))/, lazyRouter(docs));
  return router;
}
