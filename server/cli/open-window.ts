import { spawn } from 'node:child_process';
import type { WindowChoice } from './choose-window.ts';

/** How long a browser that can't run takes to say so, milliseconds. */
const FAILS_WITHIN_MS = 1_500;

/**
 * Opens the address in a browser of its own life: it stays when the platform stops. Resolves to why it could not be opened,
 * or to undefined.
 */
export function openWindow(
  choice: WindowChoice & { kind: 'app' | 'browser' },
  url: string,
): Promise<string | undefined> {
  const [file = '', ...words] = choice.kind === 'app' ? [choice.path, `--app=${url}`] : [...choice.opener, url];
  return new Promise((resolve) => {
    const child = spawn(file, words, { detached: true, stdio: 'ignore', windowsHide: true });
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
