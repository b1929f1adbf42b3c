import { expect, it } from 'vitest';
import { chooseWindow, type WindowSurroundings } from './choose-window.ts';

/** A desktop with everything on it. */
const desktop: WindowSurroundings = {
  isHeadless: undefined,
  window: 'auto',
  isCi: false,
  isTerminal: true,
  isSsh: false,
  isRoot: false,
  platform: 'linux',
  hasDisplay: true,
  electron: { path: '/opt/electron' },
  chromium: { path: '/usr/bin/chromium', name: 'Chromium' },
  opener: ['/usr/bin/xdg-open'],
};
const noElectron = { electron: { missing: "Electron's binary is not installed" } };

it.each<[string, Partial<WindowSurroundings>, string, RegExp | undefined]>([
  ['Electron on a desktop', {}, 'electron', /^Opening the window in Electron\.$/],
  ['a Chromium without tabs', noElectron, 'app', /in Chromium, because Electron's binary is not installed\.$/],
  ['the default browser', { ...noElectron, chromium: undefined }, 'browser', /default browser, because .*no Chromium/],
  ['nothing to open it in', { ...noElectron, chromium: undefined, opener: undefined }, 'headless', /^No window: .*nor/],
  ['--headless', { isHeadless: true }, 'headless', undefined],
  ['--window none', { window: 'none' }, 'headless', undefined],
  ['--window browser', { window: 'browser' }, 'app', /in Chromium, because --window browser was asked for\.$/],
  ['--window electron in a script', { window: 'electron', isTerminal: false, isCi: true }, 'electron', /Electron/],
  [
    '--window electron where it is not',
    { ...noElectron, window: 'electron' },
    'app',
    /because Electron's binary is not/,
  ],
  ['--window electron, without a display', { window: 'electron', hasDisplay: false }, 'headless', /no display/],
  ['--headless all the same', { isHeadless: true, window: 'electron' }, 'headless', undefined],
  ['a CI system', { isCi: true }, 'headless', /variable CI is set/],
  ['a script', { isTerminal: false }, 'headless', /no terminal/],
  ['a script that asks for a window', { isTerminal: false, isHeadless: false }, 'electron', /Electron/],
  ['a CI system that is asked for a window', { isCi: true, isHeadless: false }, 'electron', /Electron/],
  ['a machine without a display', { hasDisplay: false }, 'headless', /neither DISPLAY nor WAYLAND_DISPLAY/],
  ['no display, whatever was asked for', { hasDisplay: false, isHeadless: false }, 'headless', /no display/],
  ['SSH', { isSsh: true, hasDisplay: false }, 'headless', /SSH session/],
  ['SSH that forwards X11', { isSsh: true }, 'electron', /Electron/],
  ['SSH to a Mac', { isSsh: true, platform: 'darwin' }, 'headless', /SSH session/],
  ['root, never without the sandbox', { isRoot: true, isHeadless: false }, 'headless', /sandbox/],
])('for %s', (_name, surroundings, kind, line) => {
  const choice = chooseWindow({ ...desktop, ...surroundings });
  expect(choice.kind).toBe(kind);
  if (line) expect(choice.line).toMatch(line);
  else expect(choice.line).toBeUndefined();
});
