import type { WindowChoice, WindowSurroundings } from './choose-window.ts';
import { fetchElectron } from './fetch-electron.ts';
import type { Terminal } from './terminal.ts';

/** How it gets on is told so often, percent. */
const TELL_EVERY = 25;

/**
 * Where a browser shows the window only because Electron's binary is not there yet: fetches that in the background, for the next
 * start. Tells of it once something comes, and why if nothing does.
 *
 * @returns what ends it, and resolves when nothing of it is left
 */
export function fetchForLater(
  window: WindowChoice,
  { electron, window: asked }: Pick<WindowSurroundings, 'electron' | 'window'>,
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
        `Fetching Electron's binary (${Math.ceil(totalBytes / 1024 ** 2)} MB) in the background: the next start opens the window in it (--window browser leaves it).`,
      );
    else if (percent >= next && percent < 100) print(`Electron's binary: ${percent} %`);
    if (percent >= next) next = (Math.floor(percent / TELL_EVERY) + 1) * TELL_EVERY;
  };
  const done = fetchElectron(folder, { env, signal: stop.signal, onProgress }).then(
    () => print("Electron's binary is here: the next start opens the window in it."),
    ({ message }: Error) => {
      if (!stop.signal.aborted)
        print(`Electron's binary could not be fetched (${message}): the window stays in the browser.`);
    },
  );
  return () => {
    stop.abort();
    return done;
  };
}
