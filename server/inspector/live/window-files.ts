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
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const A_YEAR_MS = 365 * 24 * 60 * 60_000;

/**
 * The window at `/ui/`: its files, and its one page for every address within it. Nothing in it may come from elsewhere.
 *
 * @param folder where the build has put it
 */
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
