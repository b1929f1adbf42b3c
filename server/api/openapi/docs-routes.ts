import express, { type Request, type Router } from 'express';
import type { JsonObject } from '../../model/json.ts';
import { docsPage } from './docs-page.ts';
import { DOCUMENTS, type DocumentName } from './document.ts';
import { type DocumentAddresses, DocumentStore } from './document-store.ts';

const DOCUMENT_NAMES = Object.keys(DOCUMENTS) as DocumentName[]; // its keys, and no others

export interface DocsOptions {
  /** Creates a document, once for all clients. */
  document(addresses: DocumentAddresses, name: DocumentName): JsonObject;
  /** The addresses for this client; the page can send requests to the gateway. */
  addresses(request: Request): DocumentAddresses;
  /** Folder with the script of the page. Nothing is read from it until the page is opened. */
  assetsDir: string;
}

/** The documents, `GET /docs` for each of them (`?document=gateway`) and its assets, accessible without authentication (D-001). */
export function docsRouter({ document, addresses, assetsDir }: DocsOptions): Router {
  // Strict: relative addresses on the page would be wrong after a trailing slash.
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const name of DOCUMENT_NAMES) {
    const documents = new DocumentStore((at) => document(at, name));
    router.get(`/${DOCUMENTS[name].path}`, (request, response) => {
      const { tag, body } = documents.read(addresses(request));
      response.set({ 'Cache-Control': 'no-cache', ETag: tag });
      if (hasTag(request, tag)) response.status(304).end();
      else response.type('json').send(body);
    });
  }
  router.get('/docs', (request, response) => {
    response
      .set('Cache-Control', 'no-cache')
      .set('Content-Security-Policy', contentPolicy(addresses(request).gatewayUrl))
      .set('Referrer-Policy', 'no-referrer')
      .type('html')
      .send(docsPage(DOCUMENT_NAMES.find((name) => name === request.query.document) ?? 'platform'));
  });
  router.get('/docs/', (_request, response) => {
    response.redirect(308, '../docs');
  });
  router.use('/docs', express.static(assetsDir, { index: false, redirect: false }));
  return router;
}

/**
 * True if the client has the version with this tag. `request.fresh` is false for all requests of `fetch` with a tag
 * (`Cache-Control`).
 */
function hasTag({ headers }: Request, tag: string): boolean {
  const knownTags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return knownTags.includes(tag) || knownTags.includes('*');
}

/** Allows only our own script, and requests to the two listeners. The element adds inline styles. */
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
