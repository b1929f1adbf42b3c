import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reasonOf } from '../model/errors.ts';
import { WINDOW_HOST } from '../model/host-names.ts';
import { removeIfPossible } from '../system/files-in-use.ts';
import { startProgram } from '../system/programs.ts';
import { makeTemporary } from '../system/temporary.ts';
import { SYSTEM } from '../system/this-system.ts';
import type { WindowChoice } from './choose-window.ts';
import type { Terminal } from './terminal.ts';

/** A browser that cannot run fails within this time. */
const FAILS_WITHIN_MS = 1_500;

/**
 * Opens the chosen window in a browser and prints a line.
 *
 * @param windowUrl returns an address that signs in
 * @param failsWithinMs a browser that ends with an error later than that counts as opened
 * @returns the page that the browser opens; undefined if no browser was started
 */
export async function showWindow(
  window: WindowChoice,
  windowUrl: () => string,
  terminal: Pick<Terminal, 'print' | 'env'>,
  failsWithinMs = FAILS_WITHIN_MS,
): Promise<SignInPage | undefined> {
  if (window.line) terminal.print(window.line);
  if (window.kind !== 'app' && window.kind !== 'browser') return undefined;
  const isPlain = window.kind === 'browser' && (await needsPlainAddress(SYSTEM));
  const page = await openSignInPage(
    () => (isPlain ? windowUrl().replace(`//${WINDOW_HOST}:`, '//127.0.0.1:') : windowUrl()),
    terminal.env,
  ).catch(reasonOf);
  if (typeof page === 'string') {
    terminal.print(
      `The window was not opened: the file for the browser cannot be written (${page}). Open the address above instead.`,
    );
    return undefined;
  }
  const failure = await openWindow(window, page.url, failsWithinMs);
  if (!failure) return page;
  await page.close();
  const name = window.kind === 'app' ? window.name : 'The default browser';
  terminal.print(
    `The window was not opened: ${name} could not be opened (${failure}). Open the address above instead.`,
  );
  return undefined;
}

/** True if the system cannot resolve the window's host name and the browser may be Safari. Other browsers know the name. */
export async function needsPlainAddress(
  platform: NodeJS.Platform,
  resolve: (host: string) => Promise<unknown> = lookup,
): Promise<boolean> {
  return (
    platform === 'darwin' &&
    (await resolve(WINDOW_HOST).then(
      () => false,
      () => true,
    ))
  );
}

/** Opens the address in a detached browser, which outlives the platform. Resolves to why it could not be opened, or to undefined. */
function openWindow(
  choice: WindowChoice & { kind: 'app' | 'browser' },
  url: string,
  failsWithinMs: number,
): Promise<string | undefined> {
  const [file = '', ...args] = choice.kind === 'app' ? [choice.path, `--app=${url}`] : [...choice.opener, url];
  return new Promise((resolve) => {
    const child = startProgram(file, args, { detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => resolve(undefined), failsWithinMs);
    const settle = (reason: string | undefined) => {
      clearTimeout(timer);
      resolve(reason);
    };
    child.on('error', ({ message }) => settle(message));
    child.on('exit', (code, signal) =>
      settle(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`),
    );
    child.unref();
  });
}

/** A page that signs a browser in. Other users cannot open its address, so any process may read that address. */
export interface SignInPage {
  url: string;
  /** Resolves when a browser has opened the page, which is removed then. */
  used: Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes the page to a private file. All users of the machine can read the arguments of a browser, and the first of them to use the code
 * in the window's address would be signed in as root. The page posts a secret to a local listener, which redirects to that address.
 *
 * @param windowUrl returns an address that signs in; called when the browser requests it
 * @throws the file system's error when no folder can be written to
 */
export async function openSignInPage(windowUrl: () => string, env: Terminal['env']): Promise<SignInPage> {
  const secret = randomBytes(24).toString('base64url');
  const server = createServer();
  const posted = new Promise<void>((resolve) => {
    server.on('request', (request, response) => {
      request.resume();
      response.setHeader('Connection', 'close');
      response.setHeader('Cache-Control', 'no-store');
      if (request.method !== 'POST' || request.url !== `/${secret}`) return void response.writeHead(404).end();
      response.on('close', resolve);
      response.writeHead(303, { Location: windowUrl(), 'Referrer-Policy': 'no-referrer' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a TCP port always has one
  let folder: string | undefined;
  const close = async () => {
    server.close();
    server.closeAllConnections();
    // A page that cannot be removed no longer opens anything.
    if (folder) await removeIfPossible(folder);
  };
  try {
    folder = await makeFolder(env);
    const file = join(folder, 'sign-in.html');
    await writeFile(file, pageThatPostsTo(`http://127.0.0.1:${port}/${secret}`), { mode: 0o600, flag: 'wx' });
    return { url: pathToFileURL(file).href, used: posted.then(close), close };
  } catch (failure) {
    await close();
    throw failure;
  }
}

/**
 * A folder that only this user can open. On Linux a browser can be a snap or a Flatpak: it has a private `/tmp` and cannot read
 * hidden folders, but most can read the downloads folder. On other systems the temporary folder belongs to the user.
 */
async function makeFolder({ HOME: home }: Terminal['env']): Promise<string> {
  const parents = SYSTEM === 'linux' && home ? [join(home, 'Downloads'), home] : [];
  for (const parent of parents) {
    const folder = await mkdtemp(join(parent, 'terrarium-sign-in-')).catch(() => undefined);
    if (folder) return folder;
  }
  return makeTemporary('sign-in');
}

function pageThatPostsTo(url: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>Terrarium</title>
<form method="post" action="${url}"><button>Open Terrarium</button></form>
<script>document.forms[0].submit();</script>
`;
}
