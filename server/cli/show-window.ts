import { lookup } from 'node:dns/promises';
import { reasonOf } from '../model/errors.ts';
import { WINDOW_HOST } from '../model/window-host.ts';
import { startProgram } from '../system/programs.ts';
import { chooseWindow, type WindowChoice, type WindowContext } from './choose-window.ts';
import { openSignInPage, type SignInPage } from './sign-in-page.ts';
import type { Terminal } from './terminal.ts';

/** A browser that cannot run fails within this time. */
const FAILS_WITHIN_MS = 1_500;

/**
 * Opens the chosen window in a browser and prints a line; if it cannot be opened, tries the next choice.
 *
 * @param windowUrl returns an address that signs in
 * @returns the page that the browser opens; undefined if no browser was started
 */
export async function showWindow(
  window: WindowChoice,
  context: WindowContext,
  windowUrl: () => string,
  terminal: Pick<Terminal, 'print' | 'env'>,
): Promise<SignInPage | undefined> {
  if (window.line) terminal.print(window.line);
  if (window.kind !== 'app' && window.kind !== 'browser') return undefined;
  const isPlain = window.kind === 'browser' && (await needsPlainAddress(context.platform));
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
  const failure = await openWindow(window, page.url);
  if (!failure) return page;
  await page.close();
  const name = window.kind === 'app' ? window.name : 'The default browser';
  const missing = `${name} could not be opened (${failure})`;
  const next =
    window.kind === 'app'
      ? chooseWindow({ ...context, electron: { missing }, chromium: undefined })
      : ({ kind: 'headless', line: `The window was not opened: ${missing}.` } as const);
  return showWindow(next, context, windowUrl, terminal);
}

/** Is Safari the default browser, perhaps, and would ask the system for the name of the window in vain? Other browsers know the name. */
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

/**
 * Opens the address in a detached browser, which stays open when the platform stops. Resolves to why it could not be opened, or to
 * undefined.
 */
export function openWindow(
  choice: WindowChoice & { kind: 'app' | 'browser' },
  url: string,
): Promise<string | undefined> {
  const [file = '', ...args] = choice.kind === 'app' ? [choice.path, `--app=${url}`] : [...choice.opener, url];
  return new Promise((resolve) => {
    const child = startProgram(file, args, { detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => resolve(undefined), FAILS_WITHIN_MS);
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
