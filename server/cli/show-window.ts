import { chooseWindow, type WindowChoice, type WindowSurroundings } from './choose-window.ts';
import { openWindow } from './open-window.ts';
import type { Terminal } from './terminal.ts';

/** Opens the window that was chosen in a browser and says so; what cannot be opened gives way to the next. */
export async function showWindow(
  window: WindowChoice,
  surroundings: WindowSurroundings,
  url: string,
  terminal: Pick<Terminal, 'print'>,
): Promise<void> {
  if (window.line) terminal.print(window.line);
  if (window.kind !== 'app' && window.kind !== 'browser') return;
  const failure = await openWindow(window, url);
  if (!failure) return;
  const name = window.kind === 'app' ? window.name : 'The default browser';
  const missing = `${name} could not be opened (${failure})`;
  const next =
    window.kind === 'app'
      ? chooseWindow({ ...surroundings, electron: { missing }, chromium: undefined })
      : ({ kind: 'headless', line: `No window: ${missing}.` } as const);
  await showWindow(next, surroundings, url, terminal);
}
