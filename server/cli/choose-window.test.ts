import { expect, it } from 'vitest';
import { chooseWindow, type WindowContext } from './choose-window.ts';

/** A desktop with Electron, Chromium and a default browser. */
const desktop: WindowContext = {
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

it.each<[string, Partial<WindowContext>, string, RegExp | undefined]>([
  ['Electron on a desktop', {}, 'electron', /^Opening the window in Electron\.$/],
  ['Chromium in application mode', noElectron, 'app', /in Chromium, because Electron's binary is not installed\.$/],
  ['the default browser', { ...noElectron, chromium: undefined }, 'browser', /default browser, because .*no Chromium/],
  [
    'no browser',
    { ...noElectron, chromium: undefined, opener: undefined },
    'headless',
    /^The window was not opened: .*no program/,
  ],
  ['--headless', { isHeadless: true }, 'headless', undefined],
  ['--window none', { window: 'none' }, 'headless', undefined],
  ['--window browser', { window: 'browser' }, 'app', /in Chromium, because --window browser is set\.$/],
  ['--window electron in a script', { window: 'electron', isTerminal: false, isCi: true }, 'electron', /Electron/],
  [
    '--window electron where it is not',
    { ...noElectron, window: 'electron' },
    'app',
    /because Electron's binary is not/,
  ],
  ['--window electron, without a display', { window: 'electron', hasDisplay: false }, 'headless', /no display/],
  ['--headless with --window electron', { isHeadless: true, window: 'electron' }, 'headless', undefined],
  ['a CI system', { isCi: true }, 'headless', /variable CI is set/],
  ['a script', { isTerminal: false }, 'headless', /not started from a terminal/],
  ['a script with headless=false', { isTerminal: false, isHeadless: false }, 'electron', /Electron/],
  ['a CI system with headless=false', { isCi: true, isHeadless: false }, 'electron', /Electron/],
  ['a machine without a display', { hasDisplay: false }, 'headless', /neither DISPLAY nor WAYLAND_DISPLAY/],
  ['no display, with headless=false', { hasDisplay: false, isHeadless: false }, 'headless', /no display/],
  ['SSH', { isSsh: true, hasDisplay: false }, 'headless', /SSH session/],
  ['SSH that forwards X11', { isSsh: true }, 'electron', /Electron/],
  ['SSH to a Mac', { isSsh: true, platform: 'darwin' }, 'headless', /SSH session/],
  [
    'root, even with headless=false',
    { isRoot: true, isHeadless: false },
    'headless',
    /because you are running as root/,
  ],
])('for %s', (_name, context, kind, line) => {
  const choice = chooseWindow({ ...desktop, ...context });
  expect(choice.kind).toBe(kind);
  if (line) expect(choice.line).toMatch(line);
  else expect(choice.line).toBeUndefined();
});
