import express, { type Request, type Router } from 'express';
import type { JsonObject } from '../model/json.ts';
import { docsPage } from './docs-page.ts';

export interface DocsOptions {
  /** The document with the addresses that this client uses. */
  document(request: Request): JsonObject;
  /** `{gateway_url}`: the page may send requests there. */
  gatewayUrl(request: Request): string;
  /** Folder of the page's script. Nothing is read from it before somebody opens the page. */
  assetsDir: string;
}

/** `GET /openapi.json`, `GET /docs` and its assets, open to everybody who reaches the control plane (D-001). */
export function docsRoutes({ document, gatewayUrl, assetsDir }: DocsOptions): Router {
  // Strict: the page's relative addresses are wrong behind a trailing slash.
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/openapi.json', (request, response) => {
    response.set('Cache-Control', 'no-cache').json(document(request));
  });
  router.get('/docs', (request, response) => {
    response
      .set('Cache-Control', 'no-cache')
      .set('Content-Security-Policy', contentPolicy(gatewayUrl(request)))
      .set('Referrer-Policy', 'no-referrer')
      .type('html')
      .send(docsPage);
  });
  router.get('/docs/', (_request, response) => {
    response.redirect(308, '../docs');
  });
  router.use('/docs', express.static(assetsDir, { index: false, redirect: false }));
  return router;
}

/** Nothing but our own script, and requests to nobody but the two listeners. The element writes its styles into its markup. */
function contentPolicy(gatewayUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    `connect-src 'self' ${new URL(gatewayUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
