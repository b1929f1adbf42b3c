import type { WindowChoice, WindowContext } from './choose-window.ts';
import { fetchElectron } from './fetch-electron.ts';
import type { Terminal } from './terminal.ts';

const PROGRESS_EVERY_PERCENT = 25;

/**
 * If a browser shows the window only because Electron's binary is not installed yet: downloads it in the background for the next
 * start. Prints the progress, or why the download failed.
 *
 * @returns stops the download; resolves when it has cleaned up
 */
export function fetchInBackground(
  window: WindowChoice,
  { electron, window: asked }: Pick<WindowContext, 'electron' | 'window'>,
  { env, print }: Pick<Terminal, 'env' | 'print'>,
): () => Promise<void> {
  const folder = 'fetchInto' in electron ? electron.fetchInto : undefined;
  const isBrowser = window.kind === 'app' || window.kind === 'browser';
  if (!isBrowser || folder === undefined || asked === 'browser') return async () => undefined;
  const stop = new AbortController();
  let next = 0;
  const onProgress = ({ percent, totalBytes }: { percent: number; totalBytes: number }) => {
    if (next === 0)
      print(
        `Downloading Electron (${Math.ceil(totalBytes / 1024 ** 2)} MB) in the background. The next start opens the window in it (to keep using the browser: --window browser).`,
      );
    else if (percent >= next && percent < 100) print(`Downloading Electron: ${percent} %`);
    if (percent >= next) next = (Math.floor(percent / PROGRESS_EVERY_PERCENT) + 1) * PROGRESS_EVERY_PERCENT;
  };
  const done = fetchElectron(folder, { env, signal: stop.signal, onProgress }).then(
    () => print('Electron is downloaded. The next start opens the window in it.'),
    ({ message }: Error) => {
      if (!stop.signal.aborted)
        print(`Electron could not be downloaded (${message}). The window stays in the browser.`);
    },
  );
  return () => {
    stop.abort();
    return done;
  };
}
