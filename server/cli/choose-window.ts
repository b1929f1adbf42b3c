import type { Config } from '../config-schema.ts';
import type { ElectronBinary } from './find-electron.ts';

/** What decides whether the platform opens a window, and in what. */
export interface WindowSurroundings {
  /** `headless` of the configuration; undefined when nobody said. */
  isHeadless: boolean | undefined;
  /** `window` of the configuration. */
  window: Config['window'];
  /** Does a CI system run us? */
  isCi: boolean;
  /** Does a person sit at a terminal? */
  isTerminal: boolean;
  isSsh: boolean;
  isRoot: boolean;
  platform: NodeJS.Platform;
  /** Is there a display of X11 or Wayland? macOS and Windows always have one. */
  hasDisplay: boolean;
  electron: ElectronBinary;
  /** A browser of the Chromium family, which can show one page as an application. */
  chromium?: { path: string; name: string } | undefined;
  /** The words that open an address in the default browser. */
  opener?: readonly string[] | undefined;
}

/** What opens, and a line that says why; no line when it was asked for. */
export type WindowChoice =
  | { kind: 'electron'; path: string; line: string }
  | { kind: 'app'; path: string; name: string; line: string }
  | { kind: 'browser'; opener: readonly string[]; line: string }
  | { kind: 'headless'; line?: string };

/**
 * The best window that there can be: Electron, then a Chromium without its tabs, then the default browser, then none. The
 * reasons for none come first: whoever runs us in a script or on a server wants no window, whatever is installed.
 */
export function chooseWindow(surroundings: WindowSurroundings): WindowChoice {
  const { window } = surroundings;
  if (surroundings.isHeadless || window === 'none') return { kind: 'headless' };
  const obstacle = obstacleOf(surroundings);
  if (obstacle) return { kind: 'headless', line: `No window: ${obstacle}.` };
  const { chromium, opener } = surroundings;
  const electron = window === 'browser' ? { missing: '--window browser was asked for' } : surroundings.electron;
  if ('path' in electron) return { kind: 'electron', path: electron.path, line: 'Opening the window in Electron.' };
  if (chromium) {
    const line = `Opening the window in ${chromium.name}, because ${electron.missing}.`;
    return { kind: 'app', ...chromium, line };
  }
  const why = `${electron.missing}, and no Chromium, Chrome or Edge was found`;
  if (opener) return { kind: 'browser', opener, line: `Opening the default browser, because ${why}.` };
  return { kind: 'headless', line: `No window: ${why}, nor anything that opens a browser.` };
}

function obstacleOf(surroundings: WindowSurroundings): string | undefined {
  const { isHeadless, window, isCi, isTerminal, isSsh, isRoot, platform, hasDisplay } = surroundings;
  // Who sets headless to false, or names a window, knows that scripts, too, shall open one; what can't work stays impossible.
  const isAskedFor = isHeadless === false || window !== 'auto';
  if (isCi && !isAskedFor) return 'the variable CI is set';
  if (isSsh && (!hasDisplay || platform !== 'linux')) return 'an SSH session has no display';
  if (!hasDisplay) return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  if (isRoot) return "root's browser would run without its sandbox; start as another user to have one";
  if (!isTerminal && !isAskedFor) return 'no terminal started this (TERRARIUM_HEADLESS=false opens one all the same)';
  return undefined;
}
