import { createHash } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import type { JsonObject } from '../../model/json.ts';
import { docsPage } from './docs-page.ts';

export interface DocsOptions {
  /** Creates the document, once for all clients. */
  document(addresses: DocumentAddresses): JsonObject;
  /** The addresses for this client; the page can send requests to the gateway. */
  addresses(request: Request): DocumentAddresses;
  /** Folder with the script of the page. Nothing is read from it until the page is opened. */
  assetsDir: string;
}

/** `GET /openapi.json`, `GET /docs` and its assets, accessible without authentication (D-001). */
export function docsRouter({ document, addresses, assetsDir }: DocsOptions): Router {
  // Strict: relative addresses on the page would be wrong after a trailing slash.
  const router = express.Router({ caseSensitive: true, strict: true });
  let text: DocumentText | undefined;
  router.get('/openapi.json', (request, response) => {
    text ??= new DocumentText(document);
    const used = addresses(request);
    const tag = text.tag(used);
    response.set({ 'Cache-Control': 'no-cache', ETag: tag });
    if (hasTag(request, tag)) response.status(304).end();
    else response.type('json').send(text.read(used));
  });
  router.get('/docs', (request, response) => {
    response
      .set('Cache-Control', 'no-cache')
      .set('Content-Security-Policy', contentPolicy(addresses(request).gatewayUrl))
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

/** Does the client have the version with this tag? `request.fresh` is false for all requests of `fetch` with a tag (`Cache-Control`). */
function hasTag({ headers }: Request, tag: string): boolean {
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
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

/** The addresses of the platform for a reader of the document, without trailing slashes. */
export interface DocumentAddresses {
  /** `{base_url}` */
  baseUrl: string;
  /** `{gateway_url}` */
  gatewayUrl: string;
}

/** Placeholders for the addresses, the only part that differs between readers. The host name cannot exist (RFC 6761). */
const PLACEHOLDERS = { baseUrl: 'http://base-url.invalid', gatewayUrl: 'http://gateway-url.invalid' };

/** The document as JSON. Creating it is slow, so it is created once and the addresses are filled in per reader. */
class DocumentText {
  readonly #text: string;
  readonly #hash: string;

  constructor(make: (addresses: DocumentAddresses) => JsonObject) {
    this.#text = JSON.stringify(make(PLACEHOLDERS));
    this.#hash = hashOf(this.#text);
  }

  /** The entity tag (RFC 9110, 8.8.3) of the result of `read`. */
  tag({ baseUrl, gatewayUrl }: DocumentAddresses): string {
    return `"${hashOf([this.#hash, baseUrl, gatewayUrl].join(' '))}"`;
  }

  read({ baseUrl, gatewayUrl }: DocumentAddresses): string {
    return this.#text
      .replaceAll(PLACEHOLDERS.baseUrl, () => withinJson(baseUrl))
      .replaceAll(PLACEHOLDERS.gatewayUrl, () => withinJson(gatewayUrl));
  }
}

function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
