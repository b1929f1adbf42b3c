import { createHash } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import type { JsonObject } from '../../model/json.ts';
import { DOCUMENTS, type DocumentAddresses, type DocumentName } from './document.ts';

const DOCUMENT_NAMES = Object.keys(DOCUMENTS) as DocumentName[]; // its keys, and no others

/** The host names cannot exist (RFC 6761). */
const PLACEHOLDERS = { baseUrl: 'http://base-url.invalid', gatewayUrl: 'http://gateway-url.invalid' };

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
    const documentAt = documentFor((placeholders) => document(placeholders, name));
    router.get(`/${DOCUMENTS[name].path}`, (request, response) => {
      const { tag, text } = documentAt(addresses(request));
      response.set({ 'Cache-Control': 'no-cache', ETag: tag });
      if (hasTag(request, tag)) response.status(304).end();
      else response.type('json').send(text);
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

/** Returns a function that fills the addresses of a reader into a document, which is created once because that is slow. */
function documentFor(create: (addresses: DocumentAddresses) => JsonObject) {
  let template: string | undefined;
  // Most readers use one pair of addresses. The document has a megabyte, and its tag is compared with each request.
  let last: DocumentAddresses & { tag: string; text: string } = { baseUrl: '', gatewayUrl: '', tag: '', text: '' };
  return ({ baseUrl, gatewayUrl }: DocumentAddresses): { tag: string; text: string } => {
    if (last.baseUrl === baseUrl && last.gatewayUrl === gatewayUrl) return last;
    template ??= JSON.stringify(create(PLACEHOLDERS));
    const text = template
      .replaceAll(PLACEHOLDERS.baseUrl, () => withinJson(baseUrl))
      .replaceAll(PLACEHOLDERS.gatewayUrl, () => withinJson(gatewayUrl));
    // The entity tag (RFC 9110, 8.8.3).
    last = { baseUrl, gatewayUrl, tag: `"${createHash('sha256').update(text).digest('base64url')}"`, text };
    return last;
  };
}

/** True if the client has this version. `request.fresh` is false for all requests of `fetch` with a tag (`Cache-Control`). */
function hasTag({ headers }: Request, tag: string): boolean {
  const knownTags = (headers['if-none-match'] ?? '').split(',').map((knownTag) => knownTag.trim().replace(/^W\//, ''));
  return knownTags.includes(tag) || knownTags.includes('*');
}

function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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

const SCRIPT = 'openapi-explorer.min.js';

/** Addresses are relative, so that the page works below a proxy path. The page sets the colors of the element without a script. */
function docsPage(selectedName: DocumentName): string {
  const { title, path } = DOCUMENTS[selectedName];
  const links = DOCUMENT_NAMES.map((name) => {
    const mark = name === selectedName ? ' aria-current="page"' : '';
    return `<a href="docs?document=${name}"${mark}>${DOCUMENTS[name].title}</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; background: light-dark(#ffffff, #131b17); }
body { margin: 0; display: flex; flex-direction: column; height: 100vh; font: 14px system-ui, sans-serif; }
h1 { font-size: 18px; margin: 8px 16px; }
nav { display: flex; gap: 16px; padding: 0 16px 8px; background: light-dark(#fbfbf9, #0e1411); }
nav a { color: light-dark(#1f7a52, #5cc394); }
nav a[aria-current] { color: light-dark(#1d2420, #e3e9e4); font-weight: 600; text-decoration: none; }
openapi-explorer { flex: 1; min-height: 0; }
openapi-explorer {
  --font-regular: system-ui, sans-serif;
  --font-mono: ui-monospace, monospace;
  --font-size-regular: 15px;
  --font-size-small: 14px;
  --font-size-mono: 13px;
  --border-radius: 4px;

  --bg: light-dark(#ffffff, #131b17);
  --bg2: light-dark(#f4f5f1, #19231e);
  --bg3: light-dark(#e9ebe5, #202c26);
  --light-bg: light-dark(#e4e6df, #26322c);
  --input-bg: light-dark(#ffffff, #0e1411);
  --hover-color: light-dark(#f4f5f1, #19231e);
  --fg: light-dark(#1d2420, #e3e9e4);
  --fg2: light-dark(#3a453f, #c6cfc9);
  --fg3: light-dark(#56615a, #a9b5ae);
  --light-fg: light-dark(#667069, #93a098);
  --placeholder-color: light-dark(#98a19a, #647068);
  --border-color: light-dark(#d3d7cf, #35443c);
  --light-border-color: light-dark(#e4e6df, #26322c);

  --primary-color: light-dark(#1f7a52, #5cc394);
  --primary-btn-text-color: light-dark(#ffffff, #0e1411);
  --secondary-color: light-dark(#1f7a52, #5cc394);
  --header-bg: light-dark(#1f7a52, #5cc394);
  --header-fg: light-dark(#1d2420, #e3e9e4);
  --nav-bg-color: light-dark(#fbfbf9, #0e1411);
  --nav-text-color: light-dark(#3a453f, #c6cfc9);
  --nav-hover-bg-color: light-dark(#e3f1ea, #183527);
  --nav-hover-text-color: light-dark(#1f7a52, #5cc394);
  --nav-hover-scrollbar-color: light-dark(#d3d7cf, #35443c);

  --code-fg: light-dark(#56615a, #a9b5ae);
  --inline-code-fg: light-dark(#175c3d, #7fd3ab);
  --code-property-color: light-dark(#8a2a5b, #e59ac2);
  --code-keyword-color: light-dark(#2c6bc9, #7fa8ef);
  --code-operator-color: light-dark(#a86400, #e0a84a);

  --light-green: light-dark(#e3f1ea, #183527);
  --light-blue: light-dark(#e4edfa, #182636);
  --light-orange: light-dark(#f8eddd, #33270f);
  --light-yellow: light-dark(#f8eddd, #33270f);
  --light-red: light-dark(#f9e4e2, #3a1c19);

  /* The element reads these itself, and understands nothing but plain colours. */
  --green: #1f7a52;
  --blue: #2c6bc9;
  --orange: #a86400;
  --yellow: #a86400;
  --red: #c0362c;
  --purple: #6b46b8;
}
/* The element would give a hovered button the color of its background. */
openapi-explorer::part(btn-try):is(:hover, :focus-visible) { color: light-dark(#ffffff, #0e1411); }
@media (prefers-color-scheme: dark) {
  openapi-explorer {
    --green: #5cc394;
    --blue: #7fa8ef;
    --orange: #e0a84a;
    --yellow: #e0a84a;
    --red: #f0776b;
    --purple: #b79cf0;
  }
}
</style>
<script type="module" src="docs/${SCRIPT}"></script>
</head>
<body>
<header><h1>${title}</h1>
<nav aria-label="Documents">${links.join('')}</nav></header>
<openapi-explorer spec-url="${path}" hide-server-selection collapse schema-expand-level="2"></openapi-explorer>
<noscript>This page needs JavaScript. The document itself is at <a href="${path}">${path}</a>.</noscript>
</body>
</html>
`;
}
