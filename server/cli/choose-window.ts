/** What decides whether the platform opens a window, and in what. */
export interface WindowSurroundings {
  /** `headless` of the configuration; undefined when nobody said. */
  isHeadless: boolean | undefined;
  /** Does a CI system run us? */
  isCi: boolean;
  /** Does a person sit at a terminal? */
  isTerminal: boolean;
  isSsh: boolean;
  isRoot: boolean;
  platform: NodeJS.Platform;
  /** Is there a display of X11 or Wayland? macOS and Windows always have one. */
  hasDisplay: boolean;
  /** Path of Electron's binary, or why there is none. */
  electron: { path: string } | { missing: string };
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
  if (surroundings.isHeadless) return { kind: 'headless' };
  const obstacle = obstacleOf(surroundings);
  if (obstacle) return { kind: 'headless', line: `No window: ${obstacle}.` };
  const { electron, chromium, opener } = surroundings;
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
  const { isHeadless, isCi, isTerminal, isSsh, isRoot, platform, hasDisplay } = surroundings;
  // Who sets headless to false knows that scripts, too, shall open one; what can't work stays impossible.
  const isAskedFor = isHeadless === false;
  if (isCi && !isAskedFor) return 'the variable CI is set';
  if (isSsh && (!hasDisplay || platform !== 'linux')) return 'an SSH session has no display';
  if (!hasDisplay) return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  if (isRoot) return "root's browser would run without its sandbox; start as another user to have one";
  if (!isTerminal && !isAskedFor) return 'no terminal started this (TERRARIUM_HEADLESS=false opens one all the same)';
  return undefined;
}
