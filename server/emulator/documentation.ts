import express, { type Request, type Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { lazyRoutes } from '../http/lazy-routes.ts';
import { lazy } from '../machine/lazy.ts';
import { packageFile } from '../package-file.ts';
import type { Addresses } from '../resources/routes.ts';

/** What a client is told of the platform: addresses as it reaches them, and the names of types. */
interface Described extends Addresses {
  baseUrl: string;
  typePrefix: string;
}

/** Where everything is, for whoever opens the base address; the API's document and its page are loaded when asked for. */
export function documentation(describe: (req: Request) => Described): Router {
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
