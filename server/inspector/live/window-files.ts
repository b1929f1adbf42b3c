import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Router } from 'express';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Puts the HTML that the window sends into a frame in which nothing runs. */
const SHOW_SCRIPT = "addEventListener('message', ({ data }) => { document.querySelector('iframe').srcdoc = data; });";
/**
 * A page that shows HTML that others wrote, such as a mail, with its own styles, which the policy of the window forbids. Neither this page nor
 * its frame belongs to the origin of the platform, and nothing is loaded from the network.
 */
const HTML_FRAME = {
  policy: [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(SHOW_SCRIPT).digest('base64')}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  page: `<!DOCTYPE html><meta charset="utf-8"><title>HTML</title>
<style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block; background: white; }</style>
<iframe sandbox="" title="HTML"></iframe><script>${SHOW_SCRIPT}</script>`,
};
const A_YEAR_MS = 365 * 24 * 60 * 60_000;

/** The window at `/ui/`: its files, and its one page for every address within it. @param folder where the build has put it */
export function windowFiles(folder: string): Router {
  const router = express.Router({ caseSensitive: true });
  router.use((_req, res, next) => {
    res.set({
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
    next();
  });
  router.get('/html-frame', (_req, res) => {
    res.set('Content-Security-Policy', HTML_FRAME.policy).type('html').send(HTML_FRAME.page);
  });
  // What is in there has the hash of its content in its name.
  router.use(
    '/assets',
    express.static(join(folder, 'assets'), {
      immutable: true,
      maxAge: A_YEAR_MS,
      index: false,
      redirect: false,
      fallthrough: false,
    }),
  );
  router.use(express.static(folder, { index: false, redirect: false }));
  router.get(/.*/, (req, res) => {
    if (req.originalUrl.split('?', 1)[0] === '/ui') {
      res.redirect(308, req.originalUrl.replace('/ui', '/ui/'));
      return;
    }
    if (!existsSync(join(folder, 'index.html'))) {
      res.status(503).type('text').send('The window is not built yet. Run `npm run build`, then reload this page.\n');
      return;
    }
    // With a root only the part below it is looked at: the package may lie below a folder such as `.pnpm`.
    res.set('Cache-Control', 'no-cache').sendFile('index.html', { root: folder });
  });
  return router;
}
